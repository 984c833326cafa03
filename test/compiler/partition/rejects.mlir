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

func.func @opaque(%a: tensor<4x8xf32> {mg.sharding = [[], ["devices"]]}) -> tensor<4x8xf32> {
  // expected-error@below {{'mg.softmax' op needs a whole dimension that is split over the devices}}
  %y = mg.softmax %a : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @slice_of_split(%a: tensor<4x8xf32> {mg.sharding = [[], ["devices"]]}) -> tensor<4x2xf32> {
  // expected-error@below {{needs a whole dimension that is split over the devices}}
  %y = mg.slice %a, axis = 1, 0 to 2 : tensor<4x8xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

func.func @half_split(%a: tensor<4x8xf32> {mg.sharding = [[], ["devices"]]}, %b: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // expected-error@below {{operand #1 has dimension 0 whole, which another operand has split over the devices: give both the same mg.sharding}}
  %y = mg.dot_general %a, %b contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @positions_in_a_part(%table: tensor<8x3xf32> {mg.sharding = [["devices"], []]}, %i: tensor<4xi32>) -> tensor<4x3xf32> {
  // expected-error@below {{needs dimension 0 of operand #0 whole, since operand #1 holds positions in it, but it is split over the devices}}
  %y = mg.take %table, %i : tensor<8x3xf32>, tensor<4xi32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
