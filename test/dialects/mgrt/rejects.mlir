// What the scheduled form refuses, so that no bundle can hold it: overlaps, ranges that end outside, units and owners that do not fit
// the role, kernels bound to other sizes than they take.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

//===-- The state

mgrt.state 256 {
}
// expected-error@below {{'mgrt.state' op expected one state layout in a module, found another}}
mgrt.state 256 {
}

// -----

mgrt.state 256 {
  // expected-error@below {{'builtin.module' op expected only arrays and windows in a state}}
  builtin.module {}
}

// -----

mgrt.state 256 {
  mgrt.array variable "w" : tensor<16xf32> at 192
  // expected-error@below {{'mgrt.array' op ends at byte 260 of a state of 256 bytes}}
  mgrt.array variable "v" : tensor<f32> at 256
}

// -----

mgrt.state 512 {
  // expected-note@below {{first array is here}}
  mgrt.array slot "m" of "fit" : tensor<f32> at 0
  mgrt.array slot "m" of "tune" : tensor<f32> at 64
  mgrt.array variable "m" : tensor<f32> at 128
  // expected-error@below {{'mgrt.array' op repeats role, name and owner}}
  mgrt.array slot "m" of "fit" : tensor<f32> at 192
}

// -----

mgrt.state 512 {
  mgrt.array variable "a" : tensor<16xf32> at 128
  // expected-error@below {{'mgrt.array' op overlaps slot 'b'}}
  mgrt.array variable "c" : tensor<16xf32> at 64
  // expected-note@below {{other array is here}}
  mgrt.array slot "b" of "fit" : tensor<17xf32> at 0
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.array' op expected the offset of a range to be a multiple of 64, found 32}}
  mgrt.array variable "w" : tensor<f32> at 32
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.array' op expected offset and bytes of a range to be in 0 to 2^63 - 1, found -64 and 4}}
  mgrt.array variable "w" : tensor<f32> at -64
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.array' op expected a static shape of integers or floats, found 'tensor<?xf32>'}}
  mgrt.array variable "w" : tensor<?xf32> at 0
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.array' op expected a static shape of integers or floats, found 'tensor<4xindex>'}}
  mgrt.array variable "w" : tensor<4xindex> at 0
}

// -----

mgrt.state 256 {
  // expected-error@below {{attribute 'type' failed to satisfy constraint: type attribute of ranked tensor of any type values}}
  mgrt.array variable "w" : f32 at 0
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.window' op expected ranges of the state}}
  mgrt.window "fit" sums <state, 0, 64> epoch <arena, 64, 64> evaluation <state, 128, 64>
}

// -----

mgrt.state 256 {
  // expected-error@below {{'mgrt.window' op ends at byte 320 of a state of 256 bytes}}
  mgrt.window "fit" sums <state, 0, 64> epoch <state, 64, 64> evaluation <state, 128, 192>
}

// -----

// expected-error@below {{'mgrt.array' op expects parent op 'mgrt.state'}}
mgrt.array variable "w" : tensor<f32> at 0

// -----

mgrt.state 256 {
  // expected-error@below {{expected string or keyword containing one of the following enum values for attribute 'role' [variable, gradient, slot,}}
  mgrt.array weight "w" : tensor<f32> at 0
}

// -----

//===-- Ranges

mgrt.state 256 {
}
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected the offset of a range to be a multiple of 64, found 4}}
  mgrt.fill <state, 4, 4> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 arena 256 live 256 {
  // expected-error@below {{expected offset and bytes of a range to be in 0 to 2^63 - 1, found 64 and 9223372036854775807}}
  mgrt.fill <arena, 64, 9223372036854775807> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected offset and bytes of a range to be in 0 to 2^63 - 1, found -1 and 4}}
  mgrt.fill <temporary, -1, 4> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected offset and bytes of a range to be in 0 to 2^63 - 1, found 0 and -4}}
  mgrt.fill <temporary, 0, -4> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected ::mlir::mgrt::Region to be one of: state, arena, temporary}}
  // expected-error@below {{failed to parse Mgrt_RangeAttr parameter 'region'}}
  mgrt.fill <stack, 0, 4> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected '('}}
  mgrt.launch @k<temporary, 0, 4> -> ()
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected '<'}}
  mgrt.launch @k(0) -> ()
}

// -----

//===-- Entries

// expected-error@below {{'mgrt.entry' op expected unit 0 for update, found 4}}
mgrt.entry @f update of "fit" unit 4 {
}

// -----

// expected-error@below {{'mgrt.entry' op expected unit 0 for init, found 4}}
mgrt.entry @f init unit 4 {
}

// -----

// expected-error@below {{'mgrt.entry' op expected a unit of rows for accumulate, found 0}}
mgrt.entry @f accumulate of "fit" unit 0 {
}

// -----

// expected-error@below {{'mgrt.entry' op expected a unit of rows for predict, found -4}}
mgrt.entry @f predict of "f" unit -4 {
}

// -----

// expected-error@below {{'mgrt.entry' op expected no owner for init}}
mgrt.entry @f init of "fit" unit 0 {
}

// -----

// expected-error@below {{'mgrt.entry' op expected an owner for evaluate}}
mgrt.entry @f evaluate unit 4 {
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'builtin.module' op expected only commands in an entry}}
  builtin.module {}
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.fill' op uses the state of a module that has none}}
  mgrt.fill <state, 0, 64> with 0
}

// -----

mgrt.state 256 {
}
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.copy' op ends at byte 260 of a state of 256 bytes}}
  mgrt.copy <state, 0, 68> to <state, 192, 68>
}

// -----

mgrt.entry @f update of "fit" unit 0 arena 128 live 128 {
  // expected-error@below {{'mgrt.fill' op ends at byte 192 of an arena of 128 bytes}}
  mgrt.fill <arena, 64, 128> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 arena 128 live 128 {
  // expected-error@below {{'mgrt.fill' op uses #mgrt.range<temporary, 0, 64> in an entry whose arena is packed}}
  mgrt.fill <temporary, 0, 64> with 0
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.fill' op uses #mgrt.range<arena, 0, 64, "y"> in an entry whose arena is not packed}}
  mgrt.fill <arena, 0, 64, "y"> with 0
}

// -----

//===-- Commands

// expected-error@below {{'mgrt.fill' op expects parent op 'mgrt.entry'}}
mgrt.fill <temporary, 0, 64> with 0

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{attribute 'byte' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 255}}
  mgrt.fill <temporary, 0, 64> with 256
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op found no kernel @k}}
  mgrt.launch @k() -> ()
}

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op binds 1 operands, but @k has 2}}
  mgrt.launch @k(<temporary, 0, 16>) -> (<temporary, 1, 16>)
}

// -----

func.func private @k(tensor<4xf32>) -> tensor<4xf32>
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op binds 0 results, but @k has 1}}
  mgrt.launch @k(<temporary, 0, 16>) -> ()
}

// -----

func.func private @k(tensor<4xf32>, tensor<?xf32>)
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op expected operand #1 of @k to be a tensor of static shape, of integers or floats, found 'tensor<?xf32>'}}
  mgrt.launch @k(<temporary, 0, 16>, <temporary, 1, 16>) -> ()
}

// -----

func.func private @k() -> f32
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op expected result #0 of @k to be a tensor of static shape, of integers or floats, found 'f32'}}
  mgrt.launch @k() -> (<temporary, 1, 4>)
}

// -----

func.func private @k(tensor<4xf32>) -> tensor<3xi1>
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.launch' op binds 1 bytes to result #0 of @k, which takes 3 ('tensor<3xi1>')}}
  mgrt.launch @k(<temporary, 0, 16>) -> (<temporary, 1, 1>)
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.copy' op copies 16 bytes to 8 bytes}}
  mgrt.copy <temporary, 0, 16> to <temporary, 1, 8>
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.copy' op copies a range onto itself}}
  mgrt.copy <temporary, 0, 16> to <temporary, 0, 16, "other name">
}

// -----

mgrt.state 256 {
}
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.copy' op copies a range onto itself}}
  mgrt.copy <state, 0, 65> to <state, 64, 65>
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.all_reduce' op expected integers or floats, found 'index'}}
  mgrt.all_reduce sum index <temporary, 0, 16>
}

// -----

mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{'mgrt.all_reduce' op expected a multiple of 8 bytes for 'f64', found 20}}
  mgrt.all_reduce sum f64 <temporary, 0, 20>
}

// -----

mgrt.entry @f evaluate of "fit" unit 4 {
  // expected-error@below {{'mgrt.all_reduce' op stands in an entry of role evaluate, but only update runs at the same point on every device}}
  mgrt.all_reduce sum f32 <temporary, 0, 16>
}
