// How many rows an entry has is known: `?` is not "fewer".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-schedule-entries -verify-diagnostics --mlir-print-op-on-diagnostic=false

mgrt.state 256 {
  // expected-note@below {{declared here}}
  mgrt.array input "x" : tensor<4x2xf32> at 0
}
// expected-error@below {{entry @f: argument #0 is input 'x' of type 'tensor<4x2xf32>', found 'tensor<?x2xf32>'}}
func.func @f(%x: tensor<?x2xf32> {mg.role = "input", mg.name = "x"}) attributes {mg.entry = "predict", mg.owner = "f", mg.unit = 4 : i64} {
  return
}
