// What splits, stays partial, or has to be whole, family by family. `a partial sum` passes through ops that are linear in it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-place-all-reduces | FileCheck %s

// Moves and casts hand on a partial sum; it is reduced at the end.
// CHECK-LABEL: @moves(
// CHECK: mg.transpose
// CHECK-NEXT: mg.reshape
// CHECK-NEXT: mg.slice
// CHECK-NEXT: mg.cast
// CHECK-NEXT: mg.negate
// CHECK-NEXT: mg.reduce_mean
// CHECK-NEXT: shard.all_reduce
func.func @moves(%x: tensor<4x8xf32> {mg.partial = "sum"}) -> tensor<4xf64> {
  %t = mg.transpose %x, permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %r = mg.reshape %t, shape = [4, 8] : tensor<8x4xf32> -> tensor<4x8xf32>
  %s = mg.slice %r, axis = 1, 0 to 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %c = mg.cast %s to f64 : tensor<4x4xf32> -> tensor<4x4xf64>
  %n = mg.negate %c : tensor<4x4xf64> -> tensor<4x4xf64>
  %y = mg.reduce_mean %n, axes = [1] : tensor<4x4xf64> -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// A partial maximum passes through moves alone.
// CHECK-LABEL: @maximum_moves(
// CHECK: mg.transpose
// CHECK-NEXT: %[[WHOLE:.*]] = shard.all_reduce {{.*}} reduction = max
// CHECK: mg.negate %[[WHOLE]]
func.func @maximum_moves(%x: tensor<4x8xf32> {mg.partial = "max"}) -> tensor<8x4xf32> {
  %t = mg.transpose %x, permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %y = mg.negate %t : tensor<8x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A product is linear in one factor, a quotient in what is divided.
// CHECK-LABEL: @factor(
// CHECK: mg.multiply
// CHECK-NEXT: mg.divide
// CHECK-NEXT: shard.all_reduce
func.func @factor(%x: tensor<4xf32> {mg.partial = "sum"}, %w: tensor<4xf32>) -> tensor<4xf32> {
  %m = mg.multiply %w, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %y = mg.divide %m, %w : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @divisor(
// CHECK: %[[WHOLE:.*]] = shard.all_reduce
// CHECK: mg.divide %{{.*}}, %[[WHOLE]]
func.func @divisor(%x: tensor<4xf32> {mg.partial = "sum"}, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = mg.divide %w, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @relu(
// CHECK: %[[WHOLE:.*]] = shard.all_reduce
// CHECK-SAME: mg.relu is not linear in it
// CHECK: mg.relu %[[WHOLE]]
func.func @relu(%x: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  %y = mg.relu %x : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Which rows are taken is split as the indices are; what they add up to in the table is a partial sum.
// CHECK-LABEL: @take_and_add(
// CHECK: %[[ROWS:.*]] = mg.take
// CHECK-NEXT: %[[SUMS:.*]] = mg.scatter_add %[[ROWS]]
// CHECK-NEXT: shard.all_reduce %[[SUMS]]
func.func @take_and_add(%table: tensor<8x3xf32>, %i: tensor<4xi32> {mg.sharding = [[0]]}) -> tensor<8x3xf32> {
  %rows = mg.take %table, %i : tensor<8x3xf32>, tensor<4xi32> -> tensor<4x3xf32>
  %y = mg.scatter_add %rows, %i, 8 : tensor<4x3xf32>, tensor<4xi32> -> tensor<8x3xf32>
  return %y : tensor<8x3xf32>
}

// Sums of rows are sums over devices, the earliest bad row is a maximum.
// CHECK-LABEL: @rows(
// CHECK-DAG: %[[SUMS:.*]] = mg.row_sums
// CHECK-DAG: %[[BAD:.*]] = mg.first_bad_row
// CHECK-DAG: shard.all_reduce %[[SUMS]] on @devices grid_axes = [0] {
// CHECK-DAG: shard.all_reduce %[[BAD]] on @devices grid_axes = [0] reduction = max
func.func @rows(%x: tensor<4xf32> {mg.sharding = [[0]]}, %label: tensor<4xi32> {mg.sharding = [[0]]},
                %row0: tensor<i64>, %rows: tensor<i64>) -> (tensor<2xf64>, tensor<2xi64>) {
  %one = mg.constant dense<1.0> : tensor<4xf32> : tensor<4xf32>
  %sums = mg.row_sums %x, %one, %rows : tensor<4xf32>, tensor<4xf32>, tensor<i64> -> tensor<2xf64>
  %bad = mg.first_bad_row %label, %row0, %rows, extent = 3 : tensor<4xi32>, tensor<i64>, tensor<i64> -> tensor<2xi64>
  return %sums, %bad : tensor<2xf64>, tensor<2xi64>
}
