// What a model may not do, beyond what one op can know: at the op, in terms of the model's text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-instantiate-model -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

// expected-error@below {{the file has 0 models, expected one `mg.model @name { … }`}}
module {
}

// -----

mg.model @first {
}
// expected-error@below {{the file has 2 models, expected one `mg.model @name { … }`}}
mg.model @second {
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{makes '@g' call itself}}
    %y = mg.call @g(%x)
    mg.return %y
  }
  mg.func @g(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %y = mg.call @f(%x)
    mg.return %y
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
    // expected-error@below {{returns 'tensor<64x3xf32>', but '@f' is declared to return 'tensor<?x4xf32>'}}
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  // expected-note@below {{the variables are declared here}}
  mg.variables @w {bias: 3xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{names 'kernel', which '@w' does not have}}
    %y = mg.dense %x, @w
    mg.return %y
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{mixes the rows of a batch, which depend on how rows are dealt to devices: reduce or reorder dimensions other than the batch}}
    %s = mg.reduce_sum %x, axes = [0]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  // expected-error@below {{names '@f', but the model has no such function}}
  mg.predict @f
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    mg.return %x
  }
  // expected-error@below {{has no activation 'sofmax'}}
  mg.predict @f sofmax
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<3xf32> {
    %y = mg.constant dense<1.0> : tensor<3xf32>
    mg.return %y
  }
  // expected-error@below {{needs a value a row, tensor<?x…>, but '@f' gives 'tensor<3xf32>'}}
  mg.predict @f
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?x3xf32>) {
    %u = mg.constant dense<1.0> : tensor<f32>
    // expected-error@below {{needs one float value or more a row, tensor<?x…>, found 'tensor<f32>' (one unit has 64 rows)}}
    mg.minimize %u with @sgd
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?x3xi32>) {
    // expected-error@below {{needs one float value or more a row, tensor<?x…>, found 'tensor<64x3xi32>'}}
    mg.minimize %x with @sgd
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?x3xf32>, %w: tensor<?xf32>) {
    // expected-error@below {{has a weight of type 'tensor<64xf32>', expected 'tensor<64x3xf32>'}}
    mg.minimize %x weight %w with @sgd
  }
}
