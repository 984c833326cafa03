// What models, variables, functions, trainings and optimizers refuse, before anything is inferred.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

mg.model @m {
  // expected-error@below {{has two variables named 'kernel'}}
  mg.variables @w {kernel: 3x2xf32 = ones, kernel: 2xf32 = zeros}
}

// -----

mg.model @m {
  // expected-error@below {{variable 'kernel' has element type 'i32', expected f32 or f64}}
  mg.variables @w {kernel: 3x2xi32 = ones}
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{returns 2 values, the function's type has 1}}
    mg.return %x, %x
  }
}

// -----

mg.model @m {
  // expected-error@below {{must end in mg.return}}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %y = mg.relu %x
  }
}

// -----

mg.model @m {
  // expected-error@below {{has no objective: add mg.minimize %loss with @adam}}
  mg.train @fit(%x: tensor<?xf32>) {
    mg.metric "size", %x
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?xf32>) {
    // expected-note@below {{the first is here}}
    mg.minimize %x with @sgd
    // expected-error@below {{is the second objective; one mg.train has one}}
    mg.minimize %x with @sgd
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?xf32>) {
    // expected-error@below {{name "loss" is taken by the objective}}
    mg.metric "loss", %x
    mg.minimize %x with @sgd
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?xf32>) {
    mg.metric "size", %x
    // expected-error@below {{name "size" is taken}}
    mg.metric "size", %x
    mg.minimize %x with @sgd
  }
}

// -----

mg.model @m {
  // expected-error@below {{argument '%rate' is neither %p (the variable), %g (its gradient) nor %step; write `slot` or `scalar` before it}}
  mg.optimizer @mine(%p, %g, %rate) {
    mg.return %p
  }
}

// -----

mg.model @m {
  // expected-error@below {{lacks %g, its gradient}}
  mg.optimizer @mine(%p) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.optimizer @mine(%p, %g, slot %m = 0, slot %v = 0) {
    // expected-error@below {{returns 2 values, expected 3: the variable and 2 slots}}
    mg.return %p, %m
  }
}

// -----

mg.model @m {
  mg.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    // expected-error@below {{needs a dense constant}}
    %y = mg.constant sparse<0, 1.0> : tensor<3xf32>
    mg.return %x
  }
}

// -----

mg.model @m {
  // expected-note@below {{see existing symbol definition here}}
  mg.variables @w {kernel: 3x2xf32 = ones}
  // expected-error@below {{redefinition of symbol named 'w'}}
  mg.variables @w {bias: 2xf32 = ones}
}
