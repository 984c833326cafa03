// What each op refuses in a model file: the place, what was found, what was expected. One mistake a section, one error each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false --mg-instantiate-model=batch-size=64

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{'mg.add' op operand #1 has element type 'i32' but an earlier one 'f32'; use mg.cast}}
    %y = mg.add %x, %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{lacks its second operand: write `, %b` or `by 2.0`}}
    %y = mg.add %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has a second operand and a number: leave out one of them}}
    %y = mg.multiply %x, %x by 2.0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{invalid kind of attribute specified}}
    %y = mg.add %x by true
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of f32 or f64, but got 'tensor<64x2xi32>'}}
    %y = mg.tanh %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of integers, but got 'tensor<64x3xf32>'}}
    %y = mg.and %x, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of i1, but got 'tensor<64x2xi32>'}}
    %y = mg.not %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of i1, but got 'tensor<64x3xf32>'}}
    %y = mg.select %x, %x, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{one of the following enum values for attribute 'comparison' [eq, ne, lt, le, gt, ge]}}
    %y = mg.compare less, %x, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{lacks its second operand}}
    %y = mg.compare lt, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{result #0 must be tensor of floats or integers, but got 'tensor<64x3xindex>'}}
    %y = mg.cast %x to index
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{'mg.reduce_sum' op axis 2 is outside 0 … 1 (the operand has rank 2)}}
    %y = mg.reduce_sum %x, axes = [2]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{'mg.reduce_max' op names axis 1 twice}}
    %y = mg.reduce_max %x, axes = [1, 1]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of f32 or f64, but got 'tensor<64x2xi32>'}}
    %y = mg.reduce_mean %i, axes = [1]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 has rank 0, expected at least 1}}
    %y = mg.arg_max %u
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has 1 dims, expected 2, one a dimension of the operand}}
    %y = mg.broadcast %x, dims = [0], shape = [64, 3]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{dimension 1 is 3 but becomes dimension 1 of extent 4}}
    %y = mg.broadcast %x, dims = [0, 1], shape = [64, 4]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{axis 2 is outside 0 … 1}}
    %y = mg.broadcast %x, dims = [0, 2], shape = [64, 3]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{names dimension 0 twice}}
    %y = mg.broadcast %x, dims = [0, 0], shape = [64, 3]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{cannot make [0, 5] from 'tensor<64x3xf32>': it has 192 elements}}
    %y = mg.reshape %x, shape = [0, 5]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{cannot make [-1, -1] from 'tensor<64x3xf32>'}}
    %y = mg.reshape %x, shape = [-1, -1]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{needs a batch dimension, found rank 0}}
    %y = mg.flatten %u
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{permutes 1 dimensions, the operand has 2}}
    %y = mg.transpose %x, permutation = [0]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{[1, 1] is no permutation}}
    %y = mg.transpose %x, permutation = [1, 1]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{2 to 5 step 1 does not lie in 0 to 3}}
    %y = mg.slice %x, axis = 1, 2 to 5
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{0 to 2 step 0 does not lie in 0 to 3}}
    %y = mg.slice %x, axis = 1, 0 to 2 step 0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{axis 3 is outside 0 … 1 (the operand has rank 2)}}
    %y = mg.slice %x, axis = 3, 0 to 1
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{cannot pad by a negative number; use mg.slice}}
    %y = mg.pad %x, axis = 1, -1 and 2
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{axis 4 is outside 0 … 1}}
    %y = mg.pad %x, axis = 4, 1 and 2
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{axis 5 is outside 0 … 1}}
    %y = mg.concatenate %x, %x axis = 5
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #1 of type 'tensor<64x2xi32>' does not fit along axis 0}}
    %y = mg.concatenate %x, %i axis = 0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #1 has rank 0, expected 2}}
    %y = mg.concatenate %x, %u axis = 0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{invalid kind of attribute specified}}
    %y = mg.constant 3.0 : f32
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of integers, but got 'tensor<64x3xf32>'}}
    %y = mg.one_hot %x, 4 to f32
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has depth 0, expected at least 1}}
    %y = mg.one_hot %i, 0 to f32
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 has rank 0, expected 2}}
    %y = mg.take %u, %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #1 has rank 2, expected 1}}
    %y = mg.take %x, %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has extent 0, expected at least 1}}
    %y = mg.scatter_add %x, %i, 0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{dimension 2 of the left operand is outside 0 … 1}}
    %y = mg.dot_general %x, %x contract [2] x [0]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{contracted dimension 1 of the left operand is 3 but dimension 0 of the right operand is 64}}
    %y = mg.dot_general %x, %x contract [1] x [0]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{names dimension 1 of the left operand twice}}
    %y = mg.dot_general %x, %x contract [1, 1] x [0, 1]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has 1 contracted dimensions on the left and 0 on the right}}
    %y = mg.dot_general %x, %x contract [1] x []
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{batch dimension 0 of the left operand is 64 but dimension 1 of the right operand is 3}}
    %y = mg.dot_general %x, %x batch [0] x [1] contract [1] x [0]
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{dimension k is 3 in operand #0 but 64 in operand #1}}
    %y = mg.matmul %x, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #1 has rank 0, expected at least 2}}
    %y = mg.matmul %x, %u
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has rate 2, expected a probability: 0 … 1}}
    %y = mg.dropout %x, 2.0
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has rate -0.5, expected a probability: 0 … 1}}
    %y = mg.dropout %x, -0.5
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 has rank 0, expected at least 1}}
    %y = mg.softmax %u
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{operand #0 must be tensor of f32 or f64}}
    %y = mg.log_softmax %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{leading dimensions are [64] in operand #0 but [64, 2] in operand #1}}
    %y = mg.sparse_cross_entropy %x, %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{dimension c is 3 in operand #0 but 2 in operand #1}}
    %y = mg.cross_entropy %x, %i
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{needs a batch dimension, found rank 0}}
    %y = mg.mean_squared_error %u, %u
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{leading dimensions are [64] in operand #0 but [64, 3] in operand #1}}
    %y = mg.correct %x, %x
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{names the variables '@v', which the model does not have}}
    %y = mg.get @v::@kernel
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{names the variables '@v', which the model does not have}}
    %y = mg.dense %x, @v
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has no activation 'rellu'; any op of one operand will do, such as relu, tanh}}
    %y = mg.dense %x, @w, rellu
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has no activation 'matmul'}}
    %y = mg.dense %x, @w, matmul
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{has no activation 'cast'}}
    %y = mg.dense %x, @w, cast
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{multiplies 'tensor<f32>' by the kernel of '@w', 'tensor<3x2xf32>': the last dimension of the first must equal the first of the second}}
    %y = mg.dense %u, @w
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{calls '@g', but the model has no such function}}
    %y = mg.call @g(%x)
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{passes 1 values, '@f' takes 3}}
    %y = mg.call @f(%x)
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{passes 'tensor<64x3xf32>' where '@f' takes 'tensor<?x2xi32>'}}
    %y = mg.call @f(%x, %x, %u)
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{makes '@f' call itself}}
    %y = mg.call @f(%x, %i, %u)
    mg.return %x
  }
  mg.predict @f
}

// -----

mg.model @m {
  // expected-note@below {{the variables are declared here}}
  mg.variables @w {kernel: 3x2xf32 = ones, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>, %i: tensor<?x2xi32>, %u: tensor<f32>) -> tensor<?x3xf32> {
    // expected-error@below {{names 'gamma', which '@w' does not have}}
    %y = mg.get @w::@gamma
    mg.return %x
  }
  mg.predict @f
}
