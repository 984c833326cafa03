// Text that the model stage did not give, or that was edited since.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-build-entries -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

// expected-error@below {{is no mg.train or mg.predict that the model stage gave: is this the text of another stage? Name that one with --from}}
func.func @entry(%x: tensor<64xf32>) -> tensor<64xf32> {
  return %x : tensor<64xf32>
}

// -----

// expected-error@below {{argument #0 is no named input of static shape, found 'tensor<64xf32>'}}
func.func @nameless(%x: tensor<64xf32>) -> tensor<64xf32> attributes {mg.predict = "p", mg.unit = 64 : i64} {
  return %x : tensor<64xf32>
}

// -----

mg.variables @v {w: 3xf32 = ones}
func.func @other_type(%x: tensor<64xf32> {mg.name = "x"}) -> tensor<64xf32> attributes {mg.predict = "p", mg.unit = 64 : i64} {
  // expected-error@below {{gives 'tensor<4xf32>', but variable 'v.w' is 'tensor<3xf32>'}}
  %w = mg.get @v::@w : tensor<4xf32>
  return %x : tensor<64xf32>
}

// -----

// expected-error@below {{the model has nothing to run: add mg.train or mg.predict}}
module {
}
