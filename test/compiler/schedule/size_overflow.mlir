// A variable of 2^64 bytes is not one of 0 bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-assign-state -verify-diagnostics --mlir-print-op-on-diagnostic=false

// expected-error@below {{expected offset and bytes of a range to be in 0 to 2^63 - 1}}
module attributes {mg.interface = {units = [4], variables = [{name = "w", type = tensor<4611686018427387904xf32>, trainable = true}]}} {}
