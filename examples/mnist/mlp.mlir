// MNIST handwritten digits: 784 → 512 → 256 → 10, the model file of this example.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `?` is the batch; types between ops are inferred. Sizes, depth, activations, loss and optimizer are changed here and
// nowhere else. How many devices train it is not in this file: that is said when the bundle is run.
mg.model @mnist_mlp {
  // Trained arrays: name, shape, element type and how they start.
  mg.variables @hidden1 {kernel: 784x512xf32 = glorot_uniform, bias: 512xf32 = zeros}
  mg.variables @hidden2 {kernel: 512x256xf32 = glorot_uniform, bias: 256xf32 = zeros}
  mg.variables @digits  {kernel: 256x10xf32  = glorot_uniform, bias: 10xf32  = zeros}

  // From the pixels, as the data set stores them, to one score a digit.
  mg.func @scores(%image: tensor<?x28x28xui8>) -> tensor<?x10xf32> {
    %flat   = mg.flatten %image
    %bytes  = mg.cast %flat to f32
    %pixels = mg.divide %bytes by 255.0
    %h1     = mg.dense %pixels, @hidden1, relu
    %d1     = mg.dropout %h1, 0.2              // the identity outside training
    %h2     = mg.dense %d1, @hidden2, relu
    %d2     = mg.dropout %h2, 0.2
    %scores = mg.dense %d2, @digits
    mg.return %scores
  }

  // What `mgrun predict` writes: probabilities.
  mg.predict @scores softmax

  // What `mgrun train` minimises and reports.
  mg.train @fit(%image: tensor<?x28x28xui8>, %label: tensor<?xui8>) {
    %scores = mg.call @scores(%image)
    %loss   = mg.sparse_cross_entropy %scores, %label
    %right  = mg.correct %scores, %label
    mg.metric "accuracy", %right
    mg.minimize %loss with @adam {learning_rate = 1.0e-3}
  }
}
