// Least squares with two outputs, from zeros: what a bundle of each format is kept of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
mg.model @linear {
  mg.variables @layer {kernel: 3x2xf32 = zeros, bias: 2xf32 = zeros}
  mg.func @predict(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %y = mg.dense %x, @layer
    mg.return %y
  }
  mg.predict @predict
  mg.train @fit(%x: tensor<?x3xf32>, %t: tensor<?x2xf32>) {
    %y = mg.call @predict(%x)
    %loss = mg.mean_squared_error %y, %t
    mg.minimize %loss with @sgd {learning_rate = 0.1}
  }
}
