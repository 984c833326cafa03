// A model becomes one function a training, prediction and unit size: calls inlined, layers expanded, broadcasts explicit, random ops keyed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-instantiate-model=batch-size=8,2,8 | FileCheck %s
// RUN: not mg-opt %s --mg-instantiate-model=batch-size=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mg-opt %s --mg-instantiate-model=batch-size=16777217 2>&1 | FileCheck %s --check-prefix=LARGE
// ZERO: error: batch size 0 is outside 1 … 16777216
// LARGE: error: batch size 16777217 is outside 1 … 16777216

// Sizes are sorted and named once.
// CHECK: module @m attributes {mg.units = [2, 8]}
mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}

  // CHECK-LABEL: func.func @scores.2(
  // CHECK-SAME: %[[X:.*]]: tensor<2x3xf32> {mg.name = "x"}) -> tensor<2x2xf32> attributes {mg.predict = "scores", mg.unit = 2 : i64}
  // CHECK: %[[KERNEL:.*]] = mg.get @w::@kernel : tensor<3x2xf32>
  // CHECK: %[[PRODUCT:.*]] = mg.dot_general %[[X]], %[[KERNEL]] contract [1] x [0]
  // CHECK: %[[BIAS:.*]] = mg.get @w::@bias : tensor<2xf32>
  // CHECK: %[[BIASES:.*]] = mg.broadcast %[[BIAS]], dims = [1], shape = [2, 2]
  // CHECK: %[[SUM:.*]] = mg.add %[[PRODUCT]], %[[BIASES]]
  // CHECK: %[[ACTIVE:.*]] = mg.tanh %[[SUM]]
  // CHECK: %[[Y:.*]] = mg.softmax %[[ACTIVE]]
  // CHECK: return %[[Y]]
  mg.func @scores(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %y = mg.dense %x, @w, tanh
    mg.return %y
  }
  mg.predict @scores softmax

  // CHECK-LABEL: func.func @fit.2(
  // CHECK-SAME: mg.train = "fit", mg.unit = 2
  // CHECK: mg.dot_general
  // CHECK: mg.dropout %{{.*}}, 5.000000e-01 key [[KEY:-?[0-9]+]]
  // CHECK-NOT: key [[KEY]] :
  // CHECK: mg.dropout %{{.*}}, 5.000000e-01 key
  // CHECK: %[[HALF:.*]] = mg.constant dense<5.000000e-01> : tensor<2x2xf32>
  // CHECK: mg.multiply %{{.*}}, %[[HALF]]
  // CHECK-NOT: mg.call
  // CHECK: mg.minimize
  mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>) {
    %y = mg.call @scores(%x)
    %one = mg.dropout %y, 0.5
    %two = mg.dropout %one, 0.5
    %half = mg.multiply %two by 0.5
    %loss = mg.sparse_cross_entropy %half, %label
    mg.minimize %loss with @sgd
  }
  // CHECK-LABEL: func.func @scores.8(
  // CHECK-LABEL: func.func @fit.8(
  // The same op has the same key at every unit size.
  // CHECK: key [[KEY]] : tensor<8x2xf32>
}
