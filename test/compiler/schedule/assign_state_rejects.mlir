// What no state can be made of: `mg.interface` with a field that is missing or of another kind, named by its path.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-assign-state -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

// expected-error@below {{expected a module with 'mg.interface'}}
module {}

// -----

// expected-error@below {{expected a module with 'mg.interface'}}
module attributes {mg.interface = [4]} {}

// -----

module attributes {mg.interface = {units = [4]}} {
  // expected-error@below {{the state has a layout already}}
  mgrt.state 256 {
  }
}

// -----

// expected-error@below {{mg.interface: expected 'units' to be positive and ascending}}
module attributes {mg.interface = {}} {}

// -----

// expected-error@below {{mg.interface: expected 'units' to be positive and ascending}}
module attributes {mg.interface = {units = [0, 4]}} {}

// -----

// expected-error@below {{mg.interface: expected 'units' to be positive and ascending}}
module attributes {mg.interface = {units = [4, 4]}} {}

// -----

// expected-error@below {{mg.interface: expected a list as 'units', found 4 : i64}}
module attributes {mg.interface = {units = 4}} {}

// -----

// expected-error@below {{mg.interface: expected integers as 'units', found ["4"]}}
module attributes {mg.interface = {units = ["4"]}} {}

// -----

// expected-error@below {{mg.interface: expected dictionaries as 'variables', found ["w"]}}
module attributes {mg.interface = {units = [4], variables = ["w"]}} {}

// -----

// The first fault is the one that is reported.
// expected-error@below {{mg.interface: expected true or false as 'variables[1].trainable', found nothing}}
module attributes {mg.interface = {units = [4], variables = [
  {name = "v", type = tensor<3xf32>, trainable = false},
  {name = "w", type = tensor<3xf32>},
  {name = "x"}]}} {}

// -----

// expected-error@below {{mg.interface: expected a string as 'variables[0].name', found 7 : i64}}
module attributes {mg.interface = {units = [4], variables = [{name = 7, type = tensor<3xf32>, trainable = true}]}} {}

// -----

// expected-error@below {{mg.interface: expected a tensor type as 'variables[0].type', found "f32"}}
module attributes {mg.interface = {units = [4], variables = [{name = "w", type = "f32", trainable = true}]}} {}

// -----

// expected-error@below {{mg.interface: expected a static tensor type of integers or floats as 'variables[0].type', found f32}}
module attributes {mg.interface = {units = [4], variables = [{name = "w", type = f32, trainable = true}]}} {}

// -----

// expected-error@below {{mg.interface: expected a static tensor type of integers or floats as 'inputs[0].type', found tensor<?xf32>}}
module attributes {mg.interface = {units = [4], inputs = [{name = "x", type = tensor<?xf32>}]}} {}

// -----

// expected-error@below {{mg.interface: expected a static tensor type of integers or floats as 'outputs[0].type', found tensor<4xcomplex<f32>>}}
module attributes {mg.interface = {units = [4], outputs = [{name = "y", type = tensor<4xcomplex<f32>>}]}} {}

// -----

// expected-error@below {{mg.interface: expected a float as 'scalars[0].value', found 1 : i64}}
module attributes {mg.interface = {units = [4], scalars = [{name = "rate", owner = "fit", type = tensor<f32>, value = 1}]}} {}

// -----

// expected-error@below {{mg.interface: expected a string as 'slots[0].owner', found nothing}}
module attributes {mg.interface = {units = [4], slots = [{name = "m/w", variable = "w", type = tensor<f32>}]}} {}

// -----

// expected-error@below {{mg.interface: expected strings as 'trains[0].metrics', found [0]}}
module attributes {mg.interface = {units = [4], trains = [{name = "fit", metrics = [0]}]}} {}

// -----

// expected-error@below {{mg.interface: expected an integer as 'trains[0].checks[0].maximum', found "9"}}
module attributes {mg.interface = {units = [4], trains = [
  {name = "fit", checks = [{name = "0", input = "t", minimum = 0, maximum = "9", message = "out of range"}]}]}} {}

// -----

// expected-error@below {{mg.interface: expected a string as 'predicts[0].checks[0].message', found nothing}}
module attributes {mg.interface = {units = [4], predicts = [
  {name = "f", checks = [{name = "0", input = "t", minimum = 0, maximum = 9}]}]}} {}

// -----

// Two arrays of one name would be one.
// expected-error@below {{'mgrt.array' op repeats role, name and owner}}
// expected-note@below {{first array is here}}
module attributes {mg.interface = {units = [4], variables = [
  {name = "w", type = tensor<3xf32>, trainable = true},
  {name = "w", type = tensor<3xf32>, trainable = false}]}} {}

// -----

// expected-error@below {{'mgrt.array' op expected offset and bytes of a range to be in 0 to 2^63 - 1}}
module attributes {mg.interface = {units = [4], variables = [{name = "w", type = tensor<3000000000x3000000000xf32>, trainable = true}]}} {}
