// Arrays without elements hide no overlap of others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -verify-diagnostics --mlir-print-op-on-diagnostic=false

mgrt.state 1024 {
  // expected-note@below {{other array is here}}
  mgrt.array variable "a" : tensor<32xf32> at 0
  mgrt.array variable "empty" : tensor<0xf32> at 0
  // expected-error@below {{'mgrt.array' op overlaps variable 'a'}}
  mgrt.array variable "b" : tensor<16xf32> at 64
}
