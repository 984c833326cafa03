// What cannot be computed on parts, or would be counted more than once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-place-all-reduces -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

shard.grid @devices(shape = ?)
func.func @reduced_twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{reduces a value that every device has whole already: the result would count it once a device}}
  %y = shard.all_reduce %a on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @opaque(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}) -> tensor<4x8xf32> {
  // expected-error@below {{'mg.softmax' op needs a whole dimension that is split over the devices}}
  %y = mg.softmax %a : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @slice_of_split(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}) -> tensor<4x2xf32> {
  // expected-error@below {{needs a whole dimension that is split over the devices}}
  %y = mg.slice %a, axis = 1, 0 to 2 : tensor<4x8xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

func.func @half_split(%a: tensor<4x8xf32> {mg.sharding = [[], [0]]}, %b: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // expected-error@below {{operand #1 has dimension 0 whole, which another operand has split over the devices: give both the same mg.sharding}}
  %y = mg.dot_general %a, %b contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @positions_in_a_part(%table: tensor<8x3xf32> {mg.sharding = [[0], []]}, %i: tensor<4xi32>) -> tensor<4x3xf32> {
  // expected-error@below {{needs dimension 0 of operand #0 whole, since operand #1 holds positions in it, but it is split over the devices}}
  %y = mg.take %table, %i : tensor<8x3xf32>, tensor<4xi32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @diagonal(%a: tensor<4x8xf32> {mg.sharding = [[0], []]}, %b: tensor<8x6xf32> {mg.sharding = [[], [0]]}) -> tensor<4x6xf32> {
  // expected-error@below {{has operands whose different dimensions are split along the same grid axis: each device would get only a diagonal block of the result}}
  %y = mg.dot_general %a, %b contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

shard.grid @devices(shape = 2x2)
func.func @other_axes(%a: tensor<4xf32> {mg.sharding = [[0]]}, %b: tensor<4xf32> {mg.sharding = [[1]]}) -> tensor<4xf32> {
  // expected-error@below {{operand #0 has dimension 0 split along other axes than another operand: give both the same mg.sharding}}
  %y = mg.add %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

shard.grid @devices(shape = ?)
func.func @other_kind(%a: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  // expected-error@below {{reduces by max what is a partial sum}}
  %y = shard.all_reduce %a on @devices grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

shard.grid @others(shape = 2)
func.func @other_grid(%a: tensor<4xf32> {mg.partial = "sum"}) -> tensor<4xf32> {
  // expected-error@below {{reduces over the grid @others, expected @devices}}
  %y = shard.all_reduce %a on @others grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@below {{mg.sharding needs a list of grid axes for each of 1 dimensions, such as [[0], []]}}
func.func @too_many_dimensions(%a: tensor<4xf32> {mg.sharding = [[0], []]}) {
  return
}

// -----

// expected-error@below {{mg.sharding of dimension 0 needs a list of grid axes, each from 0 to 0}}
func.func @no_such_axis(%a: tensor<4xf32> {mg.sharding = [[1]]}) {
  return
}

// -----

// expected-error@below {{mg.sharding splits two dimensions along the same axis}}
func.func @axis_twice(%a: tensor<4x4xf32> {mg.sharding = [[0], [0]]}) {
  return
}

// -----

// expected-error@below {{mg.partial is 'average', expected sum, product, max or min}}
func.func @no_such_kind(%a: tensor<4xf32> {mg.partial = "average"}) {
  return
}

// -----

// expected-error@below {{mg.partial_axes needs a list of grid axes, each from 0 to 0}}
func.func @no_such_partial_axis(%a: tensor<4xf32> {mg.partial = "sum", mg.partial_axes = [3]}) {
  return
}

// -----

shard.grid @devices(shape = 1x1x1x1x1x1x1x1x1)
// expected-error@below {{is placed on a grid of 9 axes, expected 1 to 8}}
func.func @too_many_axes(%a: tensor<4xf32>) {
  return
}

// -----

// expected-error@below {{has several blocks: shardings are known of straight code only}}
func.func @blocks(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
^next:
  return %a : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @foreign_op_on_a_part(%a: tensor<4xf32> {mg.sharding = [[0]]}) -> tensor<4xf32> {
  // expected-error@below {{needs operand #0 whole, but it is split over the devices}}
  %y = call @elsewhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
