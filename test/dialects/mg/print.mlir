// Text goes in and comes out the same: in a model file without types, after the model stage with them. Names of arguments stay, since
// they name data, slots and scalars.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s > %t.once
// RUN: mg-opt %t.once | cmp %t.once -
// RUN: FileCheck %s --input-file=%t.once
// RUN: mg-opt %s --mg-instantiate-model=batch-size=4 > %t.typed
// RUN: mg-opt %t.typed | cmp %t.typed -
// RUN: FileCheck %s --check-prefix=TYPED --input-file=%t.typed
// RUN: FileCheck %s --check-prefix=TRAIN --input-file=%t.typed

// CHECK-LABEL: mg.model @all
mg.model @all {
  // CHECK-NEXT: mg.variables @w {kernel: 3x3xf32 = glorot_uniform, bias: 3xf32 = constant(1.000000e-01), scale: f64 = normal(-1.000000e+00, 2.000000e+00)}
  mg.variables @w {kernel: 3x3xf32 = glorot_uniform, bias: 3xf32 = constant(0.1), scale: f64 = normal(-1, 2)}

  // CHECK-NEXT: mg.optimizer @mine(%p, %g, slot %m = 0.000000e+00, %step, scalar %rate = 1.000000e-01)
  mg.optimizer @mine(%p, %g, slot %m = 0, %step, scalar %rate = 0.1) {
    %d = mg.multiply %g, %rate
    %q = mg.subtract %p, %d
    mg.return %q, %m
  }

  // CHECK: mg.func @shapes(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // TYPED-LABEL: func.func @shapes.4(%{{.*}}: tensor<4x3xf32> {mg.name = "x"}, %{{.*}}: tensor<4x3xf32> {mg.name = "t"}) -> tensor<4x3xf32>
  mg.func @shapes(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // CHECK: mg.flatten %x
    // TYPED: mg.flatten %{{.*}} : tensor<4x3xf32> -> tensor<4x3xf32>
    %flat = mg.flatten %x
    // CHECK: mg.reshape %{{.*}}, shape = [0, 3, 1]
    // TYPED: mg.reshape %{{.*}}, shape = [0, 3, 1] : tensor<4x3xf32> -> tensor<4x3x1xf32>
    %cube = mg.reshape %flat, shape = [0, 3, 1]
    // CHECK: mg.transpose %{{.*}}, permutation = [0, 2, 1]
    // TYPED: mg.transpose %{{.*}}, permutation = [0, 2, 1] : tensor<4x3x1xf32> -> tensor<4x1x3xf32>
    %turned = mg.transpose %cube, permutation = [0, 2, 1]
    // CHECK: mg.slice %{{.*}}, axis = 2, 0 to 3 step 2
    // TYPED: mg.slice %{{.*}}, axis = 2, 0 to 3 step 2 : tensor<4x1x3xf32> -> tensor<4x1x2xf32>
    %part = mg.slice %turned, axis = 2, 0 to 3 step 2
    // CHECK: mg.pad %{{.*}}, axis = 2, 0 and 1
    // TYPED: mg.pad %{{.*}}, axis = 2, 0 and 1 : tensor<4x1x2xf32> -> tensor<4x1x3xf32>
    %padded = mg.pad %part, axis = 2, 0 and 1
    // CHECK: mg.concatenate %{{.*}}, %{{.*}} axis = 1
    // TYPED: mg.concatenate %{{.*}}, %{{.*}} axis = 1 : tensor<4x1x3xf32>, tensor<4x1x3xf32> -> tensor<4x2x3xf32>
    %both = mg.concatenate %padded, %turned axis = 1
    // CHECK: mg.reduce_mean %{{.*}}, axes = [1]
    // TYPED: mg.reduce_mean %{{.*}}, axes = [1] : tensor<4x2x3xf32> -> tensor<4x3xf32>
    %mean = mg.reduce_mean %both, axes = [1]
    // CHECK: mg.dot_general %{{.*}}, %t batch [0] x [0] contract [1] x [1]
    // TYPED: mg.dot_general %{{.*}}, %{{.*}} batch [0] x [0] contract [1] x [1] : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4xf32>
    %dot = mg.dot_general %mean, %t batch [0] x [0] contract [1] x [1]
    // CHECK: mg.arg_max %x
    // TYPED: mg.arg_max %{{.*}} : tensor<4x3xf32> -> tensor<4xi64>
    %best = mg.arg_max %x
    // CHECK: mg.one_hot %{{.*}}, 3 to f32
    // TYPED: mg.one_hot %{{.*}}, 3 to f32 : tensor<4xi64> -> tensor<4x3xf32>
    %hot = mg.one_hot %best, 3 to f32
    // CHECK: mg.get @w::@kernel
    // TYPED: mg.get @w::@kernel : tensor<3x3xf32>
    %kernel = mg.get @w::@kernel
    // CHECK: mg.take %{{.*}}, %{{.*}}
    // TYPED: mg.take %{{.*}}, %{{.*}} : tensor<3x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
    %rows = mg.take %kernel, %best
    // CHECK: mg.compare lt, %x by 5.000000e-01
    // TYPED: mg.compare lt, %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xi1>
    %small = mg.compare lt, %x by 0.5
    // CHECK: mg.select %{{.*}}, %{{.*}}, %{{.*}}
    // TYPED: mg.select %{{.*}} : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
    %chosen = mg.select %small, %rows, %hot
    // CHECK: mg.cast %{{.*}} to f64
    // TYPED: mg.cast %{{.*}} to f64 : tensor<4xf32> -> tensor<4xf64>
    %wide = mg.cast %dot to f64
    // CHECK: mg.dropout %{{.*}}, 2.500000e-01
    // TYPED: mg.dropout %{{.*}}, 2.500000e-01 key {{-?[0-9]+}} : tensor<4x3xf32> -> tensor<4x3xf32>
    %kept = mg.dropout %chosen, 0.25
    // CHECK: mg.iota axis = 0, shape = [3]
    // TYPED: mg.iota axis = 0, shape = [3] : tensor<3xi64>
    %numbers = mg.iota axis = 0, shape = [3]
    // CHECK: mg.dense %{{.*}}, @w, tanh
    // TYPED: mg.dot_general
    // TYPED: mg.tanh
    %y = mg.dense %kept, @w, tanh
    mg.return %y
  }

  // CHECK: mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>, %weight: tensor<?xf32>)
  mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>, %weight: tensor<?xf32>) {
    // CHECK: mg.call @shapes(%x, %x)
    %y = mg.call @shapes(%x, %x)
    // CHECK: mg.sparse_cross_entropy %{{.*}}, %label
    %loss = mg.sparse_cross_entropy %y, %label
    %right = mg.correct %y, %label
    // CHECK: mg.metric "accuracy", %{{.*}} weight %weight
    // TRAIN: mg.metric "accuracy", %{{.*}} weight %{{.*}} : tensor<4xf32>, tensor<4xf32>
    mg.metric "accuracy", %right weight %weight
    // CHECK: mg.minimize %{{.*}} weight %weight with @mine {rate = 2.000000e-01 : f64}
    // TRAIN: mg.minimize %{{.*}} weight %{{.*}} with @mine {rate = 2.000000e-01 : f64} : tensor<4xf32>, tensor<4xf32>
    mg.minimize %loss weight %weight with @mine {rate = 0.2}
  }
  // CHECK: mg.predict @shapes softmax
  mg.predict @shapes softmax
}
