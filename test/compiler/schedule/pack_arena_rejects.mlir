// What is not packed: a command that reads what nobody has written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-pack-arena -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

mgrt.state 256 {
}
mgrt.entry @never_written update of "fit" unit 0 {
  // expected-error@below {{reads temporary #mgrt.range<temporary, 0, 64, "a"> before it is written}}
  mgrt.copy <temporary, 3, 64, "a"> to <state, 0, 64>
}

// -----

mgrt.state 256 {
}
mgrt.entry @written_too_late update of "fit" unit 0 {
  // expected-error@below {{reads temporary #mgrt.range<temporary, 0, 64> before it is written}}
  mgrt.all_reduce sum f32 <temporary, 0, 64>
  mgrt.fill <temporary, 0, 64> with 0
}
