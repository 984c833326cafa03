// A kernel's types have a size in bytes: others are refused where the kernel is launched.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

func.func private @k(tensor<4xindex>)
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected operand #0 of @k to be a tensor of}}
  mgrt.launch @k(<temporary, 0, 32>) -> ()
}

// -----

func.func private @k() -> tensor<4xcomplex<f32>>
mgrt.entry @f update of "fit" unit 0 {
  // expected-error@below {{expected result #0 of @k to be a tensor of}}
  mgrt.launch @k() -> (<temporary, 0, 32>)
}
