// A grid of two axes: a value is split along some axes, partial along others, and an all-reduce runs over just those.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-place-all-reduces --mg-hoist-all-reduces | FileCheck %s

// Case R58: (A·B)·C, every entry 2·32 = 64, with the 32 in halves along axis 1. Reduced once, along that axis.
// CHECK-LABEL: @chain
// CHECK: mg.dot_general {{.*}} -> tensor<4x16xf32>
// CHECK-NEXT: %[[ABC:.*]] = mg.dot_general {{.*}} -> tensor<4x8xf32>
// CHECK-NEXT: shard.all_reduce %[[ABC]] on @devices grid_axes = [1]
// CHECK-NOT: shard.all_reduce
func.func @chain(%a: tensor<4x2xf32>, %b: tensor<2x16xf32> {mg.sharding = [[], [1]]}, %c: tensor<16x8xf32> {mg.sharding = [[1], []]}) -> tensor<4x8xf32> {
  %ab = mg.dot_general %a, %b contract [1] x [0] : tensor<4x2xf32>, tensor<2x16xf32> -> tensor<4x16xf32>
  %abc = mg.dot_general %ab, %c contract [1] x [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return %abc : tensor<4x8xf32>
}

// Rows along axis 0, what is contracted along axis 1: the product stays split by rows.
// CHECK-LABEL: @rows_and_contraction
// CHECK: %[[Y:.*]] = mg.dot_general
// CHECK-NEXT: shard.all_reduce %[[Y]] on @devices grid_axes = [1]
// CHECK-NEXT: return %
func.func @rows_and_contraction(%x: tensor<4x8xf32> {mg.sharding = [[0], [1]]}, %w: tensor<8x3xf32> {mg.sharding = [[1], []]}) -> tensor<4x3xf32> {
  %y = mg.dot_general %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// A partial sum along axis 1 whose rows, along axis 0, are summed too: one all-reduce over both.
// CHECK-LABEL: @both
// CHECK: mg.reduce_sum
// CHECK-NEXT: shard.all_reduce %{{.*}} on @devices grid_axes = [0, 1]
func.func @both(%x: tensor<4x8xf32> {mg.sharding = [[0], []], mg.partial = "sum", mg.partial_axes = [1]}) -> tensor<8xf32> {
  %y = mg.reduce_sum %x, axes = [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Partial along different axes: what is partial along one is whole along the other, where a sum would count it again.
// CHECK-LABEL: @different_axes
// CHECK-DAG: %[[A:.*]] = shard.all_reduce %{{.*}} on @devices grid_axes = [0]
// CHECK-DAG: %[[B:.*]] = shard.all_reduce %{{.*}} on @devices grid_axes = [1]
// CHECK: mg.add
func.func @different_axes(%a: tensor<4xf32> {mg.partial = "sum", mg.partial_axes = [0]}, %b: tensor<4xf32> {mg.partial = "sum", mg.partial_axes = [1]}) -> tensor<4xf32> {
  %y = mg.add %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A partial sum times columns that are split along the same axis: each device has other columns, so the sum comes first.
// CHECK-LABEL: @same_axis
// CHECK: %[[X:.*]] = shard.all_reduce %{{.*}} on @devices grid_axes = [0]
// CHECK-NEXT: mg.dot_general %[[X]]
// CHECK-NOT: shard.all_reduce
func.func @same_axis(%x: tensor<4x8xf32> {mg.partial = "sum", mg.partial_axes = [0]}, %w: tensor<8x3xf32> {mg.sharding = [[], [0]]}) -> tensor<4x3xf32> {
  %y = mg.dot_general %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// An op of another dialect gets the whole value.
// CHECK-LABEL: @foreign
// CHECK: %[[X:.*]] = shard.all_reduce
// CHECK-NEXT: call @elsewhere(%[[X]])
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @foreign(%x: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  %y = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Case R60: unused arguments, results that are arguments, empty functions, and the grid after its use.
// CHECK-LABEL: @unused
func.func @unused(%x: tensor<4xf32> {mg.sharding = [[0]]}, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
// CHECK-LABEL: @empty
func.func @empty() {
  return
}
shard.grid @devices(shape = 2x2)
