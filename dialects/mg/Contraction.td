// Sums of products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_CONTRACTION_TD
#define MG_CONTRACTION_TD
include "dialects/mg/MgBase.td"

def MG_DotGeneralOp : MG_Op<"dot_general"> {
  let summary = "batched sum of products, StableHLO's dot_general";
  let description = [{
    `batch` and `contract` are pairs of dimension lists, left and right. The result has the batch dimensions, then the left
    operand's free ones, then the right operand's. Accumulated in the element type.
  }];
  let arguments = (ins MG_Float:$a, MG_Float:$b,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$batch_a, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$batch_b,
    DenseI64ArrayAttr:$contract_a, DenseI64ArrayAttr:$contract_b);
  let results = (outs MG_Float:$y);
  let element = "a";
  let body = "a * b";
  let vjp = ["Custom"];
  let linear = "a|b";
  let reference = "a @ b";
  let example = "mg.dot_general %a, %b contract [1] x [0]";
  let sample = "a: ?x3xf64, b: 3x4xf64";
  let assemblyFormat = [{ $a `,` $b (`batch` $batch_a^ `x` $batch_b)? `contract` $contract_a `x` $contract_b attr-dict
    custom<Types>(type($a), type($b), type($y)) }];
}

def MG_MatmulOp : MG_Op<"matmul"> {
  let summary = "matrix product over the last two dimensions; leading dimensions are batch";
  let arguments = (ins MG_Float:$a, MG_Float:$b);
  let results = (outs MG_Float:$y);
  let index = "...mk,...kn->...mn; k:sum";
  let element = "a";
  let decompose = ["matrix_product(a, b)"];
  let linear = "a|b";
  let reference = "a @ b";
  let example = "mg.matmul %a, %b";
  let sample = "a: ?x3xf64, b: 3x4xf64";
  let assemblyFormat = "$a `,` $b attr-dict custom<Types>(type($a), type($b), type($y))";
}

#endif
