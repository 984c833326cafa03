// Where partial values are made whole. Arguments say how they are split; an all-reduce stands where a value is first needed whole,
// and moves up while it does not get larger.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-place-all-reduces --mg-hoist-all-reduces --cse | FileCheck %s
// RUN: mg-opt %s --mg-place-all-reduces | FileCheck %s --check-prefix=PLACED

// CHECK: shard.grid @devices(shape = ?)

// (A·B)·C with a split contraction in A·B: one all-reduce, of the smaller of the two products.
// CHECK-LABEL: @narrow_last
// CHECK: %[[ABC:.*]] = mg.dot_general %{{.*}} -> tensor<4x2xf32>
// CHECK-NEXT: shard.all_reduce %[[ABC]] on @devices
// CHECK-SAME: is a partial sum on each device and is returned whole
// CHECK-NOT: shard.all_reduce
func.func @narrow_last(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}, %b: tensor<8x6xf32> {mg.sharding = [[0], []]},
                       %c: tensor<6x2xf32>) -> tensor<4x2xf32> {
  %ab = mg.dot_general %a, %b contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %abc = mg.dot_general %ab, %c contract [1] x [0] : tensor<4x6xf32>, tensor<6x2xf32> -> tensor<4x2xf32>
  return %abc : tensor<4x2xf32>
}

// CHECK-LABEL: @wide_last
// CHECK: %[[AB:.*]] = mg.dot_general %{{.*}} -> tensor<4x6xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = shard.all_reduce %[[AB]]
// CHECK-NEXT: mg.dot_general %[[WHOLE]]
// CHECK-NOT: shard.all_reduce
// PLACED-LABEL: @wide_last
// PLACED: mg.dot_general
// PLACED-NEXT: mg.dot_general
// PLACED-NEXT: shard.all_reduce
func.func @wide_last(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}, %b: tensor<8x6xf32> {mg.sharding = [[0], []]},
                     %c: tensor<6x20xf32>) -> tensor<4x20xf32> {
  %ab = mg.dot_general %a, %b contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %abc = mg.dot_general %ab, %c contract [1] x [0] : tensor<4x6xf32>, tensor<6x20xf32> -> tensor<4x20xf32>
  return %abc : tensor<4x20xf32>
}

// CHECK-LABEL: @not_linear
// CHECK: %[[SUM:.*]] = mg.reduce_sum
// CHECK-NEXT: %[[WHOLE:.*]] = shard.all_reduce %[[SUM]]
// CHECK-SAME: mg.exponential is not linear in it
// CHECK-NEXT: mg.exponential %[[WHOLE]]
// CHECK-NOT: shard.all_reduce
func.func @not_linear(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}) -> tensor<4xf32> {
  %s = mg.reduce_sum %a, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %y = mg.exponential %s : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A product of a partial sum with itself is not linear; the value is reduced once for both uses.
// CHECK-LABEL: @square
// CHECK: %[[WHOLE:.*]] = shard.all_reduce
// CHECK-NEXT: mg.multiply %[[WHOLE]], %[[WHOLE]]
// CHECK-NOT: shard.all_reduce
func.func @square(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}) -> tensor<4xf32> {
  %s = mg.reduce_sum %a, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %y = mg.multiply %s, %s : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A whole value added to a partial sum would count once a device.
// CHECK-LABEL: @add_whole
// CHECK: %[[WHOLE:.*]] = shard.all_reduce
// CHECK-NEXT: mg.add %[[WHOLE]]
func.func @add_whole(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}, %w: tensor<4xf32>) -> tensor<4xf32> {
  %s = mg.reduce_sum %a, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %y = mg.add %s, %w : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Two partial sums add up to one.
// CHECK-LABEL: @add_partial
// CHECK: %[[Y:.*]] = mg.add
// CHECK-NEXT: shard.all_reduce %[[Y]]
// CHECK-NOT: shard.all_reduce
func.func @add_partial(%a: tensor<4xf32> {mg.partial = "sum"}, %b: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  %y = mg.add %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A partial maximum and a partial sum do not, in either order.
// CHECK-LABEL: @add_max_to_sum
// CHECK-COUNT-2: shard.all_reduce
// CHECK: mg.add
// CHECK-NOT: shard.all_reduce
func.func @add_max_to_sum(%a: tensor<4xf32> {mg.partial = "max"}, %b: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  %y = mg.add %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @maximum
// CHECK: %[[MAX:.*]] = mg.reduce_max
// CHECK-NEXT: shard.all_reduce %[[MAX]] on @devices grid_axes = [0] reduction = max
func.func @maximum(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}) -> tensor<4xf32> {
  %s = mg.reduce_max %a, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %y = mg.negate %s : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @rows_stay_split
// CHECK-NOT: shard.all_reduce
func.func @rows_stay_split(%a: tensor<4x8xf32> {mg.sharding = [[0], []]}) -> tensor<4xf32> {
  %s = mg.reduce_sum %a, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// Entries of one unit hold no collective: devices run as many units as they have.
// CHECK-LABEL: @accumulate
// CHECK-NOT: shard.all_reduce
// CHECK-LABEL: @update
// CHECK: shard.all_reduce
func.func @accumulate(%x: tensor<4x8xf32> {mg.role = "input"}) -> (tensor<8xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "accumulate"} {
  %s = mg.reduce_sum %x, axes = [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}
func.func @update(%w: tensor<8xf32> {mg.role = "variable", mg.name = "w"}, %g: tensor<8xf32> {mg.role = "gradient", mg.name = "w"})
    -> (tensor<8xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update"} {
  %next = mg.subtract %w, %g : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %next : tensor<8xf32>
}
