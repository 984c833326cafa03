// What no entry can be made of: arrays that do not exist or do not fit, ops that no bundle has, reductions that no runtime has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-schedule-entries -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

// expected-error@below {{expected a state layout: run mg-assign-state}}
module {}

// -----

mgrt.state 256 {
}
// expected-error@below {{'func.func' op has the unknown mg.entry "train"}}
func.func @f() attributes {mg.entry = "train"} {
  return
}

// -----

mgrt.state 256 {
}
// expected-error@below {{'func.func' op has the unknown mg.entry 4 : i64}}
func.func @f() attributes {mg.entry = 4 : i64} {
  return
}

// -----

mgrt.state 256 {
}
// expected-error@below {{'func.func' op expected an entry with one block}}
func.func @f() attributes {mg.entry = "init"} {
  return
^next:
  return
}

// -----

mgrt.state 256 {
}
// expected-error@below {{'func.func' op expected an entry with one block}}
func.func private @f() attributes {mg.entry = "init"}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
// expected-error@below {{entry @f: argument #0 has no mg.role}}
func.func @f(%w: tensor<4xf32> {mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
func.func @f(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> tensor<4xf32> attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{entry @f: result #0 has no mg.role}}
  return %w : tensor<4xf32>
}

// -----

mgrt.state 256 {
}
// expected-error@below {{entry @f: argument #0 has the unknown mg.role "weight"}}
func.func @f(%w: tensor<4xf32> {mg.role = "weight", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array seed "seed" : tensor<i64> at 0
}
// expected-error@below {{entry @f: argument #1 has no mg.name}}
func.func @f(%seed: tensor<i64> {mg.role = "seed"}, %w: tensor<4xf32> {mg.role = "variable"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
// expected-error@below {{entry @f: argument #0 is variable 'v', which mg.interface does not declare}}
func.func @f(%v: tensor<4xf32> {mg.role = "variable", mg.name = "v"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 0
}
// expected-error@below {{entry @f: argument #0 is gradient 'w', which mg.interface does not declare for 'tune'}}
func.func @f(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "tune"} {
  return
}

// -----

mgrt.state 256 {
}
// expected-error@below {{entry @f: argument #0 is step 'step', which mg.interface does not declare}}
func.func @f(%step: tensor<i64> {mg.role = "step"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

// `init` belongs to no train, and there are two arrays of that name.
mgrt.state 256 {
  mgrt.array slot "m/w" of "fit" : tensor<4xf32> at 0
  mgrt.array slot "m/w" of "tune" : tensor<4xf32> at 64
}
// expected-error@below {{entry @f: argument #0 is slot 'm/w', which mg.interface does not declare}}
func.func @f(%m: tensor<4xf32> {mg.role = "slot", mg.name = "m/w"}) attributes {mg.entry = "init"} {
  return
}

// -----

mgrt.state 256 {
  // expected-note@below {{declared here}}
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
// expected-error@below {{entry @f: argument #0 is variable 'w' of type 'tensor<4xf32>', found 'tensor<4xf64>'}}
func.func @f(%w: tensor<4xf64> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  // expected-note@below {{declared here}}
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
// Fewer rows are for inputs and outputs.
// expected-error@below {{entry @f: argument #0 is variable 'w' of type 'tensor<4xf32>', found 'tensor<2xf32>'}}
func.func @f(%w: tensor<2xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  // expected-note@below {{declared here}}
  mgrt.array input "x" : tensor<4x2xf32> at 0
}
// expected-error@below {{entry @f: argument #0 is input 'x' of type 'tensor<4x2xf32>', found 'tensor<8x2xf32>'}}
func.func @f(%x: tensor<8x2xf32> {mg.role = "input", mg.name = "x"}) attributes {mg.entry = "predict", mg.owner = "f", mg.unit = 8 : i64} {
  return
}

// -----

mgrt.state 256 {
  // expected-note@below {{declared here}}
  mgrt.array input "x" : tensor<4x2xi32> at 0
}
// A sign is for the outside, a size is not.
// expected-error@below {{entry @f: argument #0 is input 'x' of type 'tensor<4x2xi32>', found 'tensor<4x2xi64>'}}
func.func @f(%x: tensor<4x2xi64> {mg.role = "input", mg.name = "x"}) attributes {mg.entry = "predict", mg.owner = "f", mg.unit = 4 : i64} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
// expected-error@below {{entry @f: argument #1 repeats variable 'w'}}
func.func @f(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}, %v: tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  return
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
func.func @f(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{entry @f: result #1 repeats variable 'w'}}
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
}
func.func @f(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'mg.negate' op cannot be scheduled: expected mg.launch, mg.reshape or shard.all_reduce in an entry}}
  %y = mg.negate %w : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

mgrt.state 256 {
}
func.func private @k() -> tensor<?xf32> attributes {mg.kernel}
func.func @f() attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'mg.launch' op has a result of type 'tensor<?xf32>', expected a tensor of static shape}}
  %y = mg.launch @k() : () -> tensor<?xf32>
  return
}

// -----

mgrt.state 256 {
}
func.func private @k() -> tensor<4xindex> attributes {mg.kernel}
func.func @f() attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'mg.launch' op has a result of type 'tensor<4xindex>'}}
  %y = mg.launch @k() : () -> tensor<4xindex>
  return
}

// -----

shard.grid @devices(shape = ?)
mgrt.state 256 {
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 0
}
func.func @f(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'shard.all_reduce' op cannot change the type while reducing}}
  %y = shard.all_reduce %g on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

shard.grid @devices(shape = 2x2)
mgrt.state 256 {
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 0
}
func.func @f(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'shard.all_reduce' op reduces over 1 of 2 grid axes, but a bundle can only reduce over all devices}}
  %y = shard.all_reduce %g on @devices grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

shard.grid @devices(shape = ?)
mgrt.state 256 {
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 0
}
func.func @f(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  // expected-error@below {{'shard.all_reduce' op has reduction average, expected sum, max, min or product}}
  %y = shard.all_reduce %g on @devices grid_axes = [0] reduction = average : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// A unit is run by one device as often as it has rows: a collective in it would wait for ever.
shard.grid @devices(shape = ?)
mgrt.state 256 {
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 0
}
func.func @f(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "accumulate", mg.owner = "fit", mg.unit = 4 : i64} {
  // expected-error@below {{'mgrt.all_reduce' op stands in an entry of role accumulate, but only update runs at the same point on every device}}
  %y = shard.all_reduce %g on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

mgrt.state 256 {
}
// expected-error@below {{'mgrt.entry' op expected a unit of rows for predict, found 0}}
func.func @f() attributes {mg.entry = "predict", mg.owner = "f"} {
  return
}
