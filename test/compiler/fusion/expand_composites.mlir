// Composites become the primitives that define them; primitives stay.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-expand-composites --cse | FileCheck %s

// CHECK-LABEL: @softmax(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: %[[MAX:.*]] = mg.reduce_max %[[X]], axes = [1]
// CHECK-NEXT: %[[MAXES:.*]] = mg.broadcast %[[MAX]], dims = [0]
// CHECK-NEXT: %[[SHIFTED:.*]] = mg.subtract %[[X]], %[[MAXES]]
// CHECK-NEXT: %[[E:.*]] = mg.exponential %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = mg.reduce_sum %[[E]], axes = [1]
// CHECK-NEXT: %[[SUMS:.*]] = mg.broadcast %[[SUM]], dims = [0]
// CHECK-NEXT: mg.divide %[[E]], %[[SUMS]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mg.softmax %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @silu(
// CHECK: %[[S:.*]] = mg.sigmoid %[[X:.*]] :
// CHECK-NEXT: mg.multiply %[[X]], %[[S]]
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mg.silu %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Outside training dropout is the identity; in training the gradient stage has expanded it.
// CHECK-LABEL: @dropout(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @dropout(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mg.dropout %x, 0.5 key 7 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @keep_mask(
// CHECK: %[[BITS:.*]] = mg.random_bits %{{.*}}, key = 7, shape = [4, 8], rows = true
// CHECK: mg.compare lt
func.func @keep_mask(%seed: tensor<i64>, %step: tensor<i64>, %row0: tensor<i64>) -> tensor<4x8xi1> {
  %y = mg.keep_mask %seed, %step, %row0, rate = 0.25, key = 7, shape = [4, 8] : tensor<i64>, tensor<i64>, tensor<i64> -> tensor<4x8xi1>
  return %y : tensor<4x8xi1>
}

// Rows beyond the last are 0, and are not counted; without weights the count is `rows`.
// CHECK-LABEL: @row_sums(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[ROWS:.*]]: tensor<i64>
// CHECK: %[[VALID:.*]] = mg.compare lt
// CHECK: %[[KEPT:.*]] = mg.select %[[VALID]]
// CHECK: mg.reduce_sum %[[KEPT]], axes = [0]
// CHECK: mg.cast %[[ROWS]] to f64
// CHECK-NOT: mg.reduce_sum
// CHECK: return
func.func @row_sums(%x: tensor<4xf32>, %rows: tensor<i64>) -> tensor<2xf64> {
  %one = mg.constant dense<1.0> : tensor<4xf32> : tensor<4xf32>
  %y = mg.row_sums %x, %one, %rows : tensor<4xf32>, tensor<4xf32>, tensor<i64> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// With weights both are sums.
// CHECK-LABEL: @weighted_row_sums(
// CHECK-COUNT-2: mg.reduce_sum
func.func @weighted_row_sums(%x: tensor<4xf32>, %weight: tensor<4xf32>, %rows: tensor<i64>) -> tensor<2xf64> {
  %y = mg.row_sums %x, %weight, %rows : tensor<4xf32>, tensor<4xf32>, tensor<i64> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// CHECK-LABEL: @first_bad_row(
// CHECK-COUNT-2: mg.reduce_max
func.func @first_bad_row(%label: tensor<4xui8>, %row0: tensor<i64>, %rows: tensor<i64>) -> tensor<2xi64> {
  %y = mg.first_bad_row %label, %row0, %rows, extent = 10 : tensor<4xui8>, tensor<i64>, tensor<i64> -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// CHECK-LABEL: @primitive(
// CHECK-NEXT: mg.tanh
// CHECK-NEXT: return
func.func @primitive(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mg.tanh %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
