// What is no model text: mistakes that the parser finds, at the character where they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file -verify-diagnostics

mg.model @unknown_op {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{custom op 'mg.frobnicate' is unknown}}
    %y = mg.frobnicate %x
    mg.return %y
  }
}

// -----

mg.model @undeclared {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{use of undeclared SSA value name}}
    %y = mg.relu %z
    mg.return %y
  }
}

// -----

mg.model @twice {
  // expected-note@below {{previously defined here}}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{redefinition of SSA value '%x'}}
    %x = mg.relu %x
    mg.return %x
  }
}

// -----

mg.model @before_definition {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 does not dominate this use}}
    %y = mg.relu %q
    // expected-note@below {{operand defined here}}
    %q = mg.relu %x
    mg.return %y
  }
}

// -----

mg.model @no_operand {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{expected SSA operand}}
    %y = mg.relu
    mg.return %y
  }
}

// -----

mg.model @keyword {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{expected 'axes'}}
    %y = mg.reduce_sum %x, axis = [1]
    mg.return %y
  }
}

// -----

mg.model @attribute_type {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{expected '['}}
    %y = mg.reduce_sum %x, axes = 1
    mg.return %y
  }
}

// -----

mg.model @dynamic_dimension {
  // expected-error@below {{argument #0 has type 'tensor<?x?xf32>': only the first dimension, the batch, may be `?`}}
  mg.func @f(%x: tensor<?x?xf32>) -> tensor<?x3xf32> {
    mg.return %x
  }
}

// -----

mg.model @dynamic_variable {
  // expected-error@below {{expected static shape}}
  mg.variables @w {kernel: ?x2xf32 = ones}
}

// -----

mg.model @dynamic_constant {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{elements literal type must have static shape}}
    %y = mg.constant dense<1.0> : tensor<?x3xf32>
    mg.return %y
  }
}

// -----

mg.model @constant_size {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    // expected-error@below {{inferred shape of elements literal ([2]) does not match type ([3])}}
    %y = mg.constant dense<[1.0, 2.0]> : tensor<3xf32>
    mg.return %y
  }
}

// -----

mg.model @scalar_argument {
  // expected-error@below {{argument #0 has type 'f32', expected a tensor such as tensor<?x28x28xui8>}}
  mg.func @f(%x: f32) -> tensor<?x3xf32> {
    mg.return %x
  }
}

// -----

mg.model @no_initializer {
  // expected-error@below {{expected '='}}
  mg.variables @w {kernel: 3x2xf32}
}

// -----

mg.model @number {
  // expected-error@below {{expected}}
  mg.variables @w {kernel: 3x2xf32 = constant(high)}
}

// -----

mg.model @optimizer_default {
  // expected-error@below {{expected '='}}
  mg.optimizer @mine(%p, %g, slot %m) {
    mg.return %p, %m
  }
}

// -----

mg.model @missing_brace {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    mg.return %x
  }
// expected-error {{expected operation name in quotes}}
