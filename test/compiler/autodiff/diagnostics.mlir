// What the gradient stage refuses or warns of, at the model's line. Two unit sizes, and each training is differentiated twice: still one
// warning each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --pass-pipeline='builtin.module(mg-instantiate-model{batch-size=4,8},mg-build-entries)' -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false

// A variable without a path to the loss is named, once, and does not change (R11).
mg.model @m {
  // expected-warning@below {{variable 'v.b' has no path to the loss: its gradient is zero and it will not change}}
  mg.variables @v {a: f64 = ones, b: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  // expected-warning@below {{variable 'v.a' has no path to the loss}}
  mg.variables @v {a: 3xf64 = ones}
  mg.train @fit(%x: tensor<?x3xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    // expected-warning@below {{'mg.arg_max' is not differentiable, its gradient is zero: a position has no derivative}}
    %i = mg.arg_max %y
    %z = mg.cast %i to f64
    mg.minimize %z with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {a: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    // expected-error@below {{names the optimizer '@sdg', which neither the model nor the library has; see mgc --print-library}}
    mg.minimize %y with @sdg
  }
  // expected-note@below {{there is '@sgd'}}
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {a: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    // expected-error@below {{sets 'rate', which '@sgd' does not have; it has learning_rate, decay}}
    mg.minimize %y with @sgd {rate = 1.0}
  }
  mg.optimizer @sgd(%p, %g, scalar %learning_rate = 0.1, scalar %decay = 0.0) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {a: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    // expected-error@below {{sets 'rate', which '@sgd' does not have; it has none}}
    mg.minimize %y with @sgd {rate = 1.0}
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {a: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    // expected-error@below {{sets 'rate' to "fast", expected a number}}
    mg.minimize %y with @sgd {rate = "fast"}
  }
  mg.optimizer @sgd(%p, %g, scalar %rate = 0.1) {
    mg.return %p
  }
}

// -----

mg.model @m {
  // expected-error@below {{has no initializer 'glorot'; there are zeros, ones, constant, uniform, normal, truncated_normal, and glorot, he, lecun each with _uniform and _normal}}
  mg.variables @v {a: f64 = glorot}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  // expected-error@below {{gives initializer 'uniform' 1 numbers, expected 2}}
  mg.variables @v {a: f64 = uniform(1.0)}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  // expected-error@below {{gives initializer 'zeros' 1 numbers, expected 0}}
  mg.variables @v {a: f64 = zeros(0.5)}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {a: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    // expected-error@below {{is not allowed in an optimizer: only element-wise ops and reductions are}}
    %q = mg.call @f(%g)
    mg.return %q
  }
}

// -----

mg.model @m {
  mg.variables @v {a: 3xf64 = ones}
  mg.train @fit(%x: tensor<?x3xf64>) {
    %a = mg.get @v::@a
    %y = mg.multiply %x, %a
    mg.minimize %y with @sgd
  }
  // expected-error@below {{gives 'tensor<f64>' for variable 'v.a' of type 'tensor<3xf64>'}}
  mg.optimizer @sgd(%p, %g) {
    %s = mg.reduce_sum %g, axes = [0]
    mg.return %s
  }
}

// -----

mg.model @m {
  mg.train @fit(%x: tensor<?xf64>) {
    // expected-error@below {{has nothing to train: the model has no mg.variables}}
    mg.minimize %x with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----
// expected-error@below {{has nothing to run: add mg.train or mg.predict}}
mg.model @m {
}

// -----

mg.model @m {
  mg.variables @v {w: f64 = ones}
  // expected-note@below {{declared here}}
  mg.func @p(%x: tensor<?x3xf64>) -> tensor<?x3xf64> {
    mg.return %x
  }
  mg.predict @p
  // expected-error@below {{input 'x' has rows of type tensor<f64>, but another input of this name has rows of type tensor<3xf64>; give one of them another name}}
  mg.train @fit(%x: tensor<?xf64>) {
    %w = mg.get @v::@w
    %loss = mg.multiply %x, %w
    mg.minimize %loss with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}

// -----

mg.model @m {
  mg.variables @v {w: f64 = ones}
  mg.train @fit(%x: tensor<?xf64>) {
    %w = mg.get @v::@w
    %loss = mg.multiply %x, %w
    // expected-error@below {{sets 'rate' to INF, expected a finite number}}
    mg.minimize %loss with @sgd {rate = 0x7F800000 : f32}
  }
  mg.optimizer @sgd(%p, %g, scalar %rate = 1.0) {
    mg.return %p
  }
}

// -----

// Through integers no gradient goes, whatever is done with them there.
mg.model @m {
  mg.variables @v {w: 3xf64 = ones}
  mg.train @fit(%x: tensor<?x3xf64>) {
    %w = mg.get @v::@w
    %y = mg.multiply %x, %w
    // expected-warning@below {{'mg.cast' is not differentiable, its gradient is zero: its result holds no floats}}
    %whole = mg.cast %y to i64
    %size = mg.abs %whole
    %back = mg.cast %size to f64
    %loss = mg.add %y, %back
    mg.minimize %loss with @sgd
  }
  mg.optimizer @sgd(%p, %g) {
    mg.return %p
  }
}
