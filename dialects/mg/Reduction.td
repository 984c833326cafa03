// Reductions over given axes, which disappear from the shape.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_REDUCTION_TD
#define MG_REDUCTION_TD
include "dialects/mg/MgBase.td"

class MG_Reduction<string mnemonic, Type type = MG_Number> : MG_Op<mnemonic, [MG_ReducesAxes]> {
  let arguments = (ins type:$x, DenseI64ArrayAttr:$axes);
  let results = (outs type:$y);
  let element = "x";
  let body = "x";
  let assemblyFormat = "$x `,` `axes` `=` $axes attr-dict custom<Types>(type($x), type($y))";
  let example = "mg." # mnemonic # " %x, axes = [1]";
  let sample = "x: ?x4xf64";
  string kind = "sum"; // of every reduced letter
}
def MG_ReduceSumOp : MG_Reduction<"reduce_sum"> {
  let summary = "sum over axes; of nothing, 0";
  let vjp = ["expand(d_y, x, $axes)"];
  let linear = "x";
  let reference = "numpy.sum(x, axis=tuple(axes))";
}
def MG_ReduceProdOp : MG_Reduction<"reduce_prod"> {
  let summary = "product over axes; of nothing, 1";
  let description = [{The derivative is the product of the others, also where elements are 0 (R38).}];
  let kind = "prod";
  let vjp = ["d_y_of_product(d_y, x, $axes)"];
  let reference = "numpy.prod(x, axis=tuple(axes))";
}
def MG_ReduceMaxOp : MG_Reduction<"reduce_max"> {
  let summary = "maximum over axes; NaN if any is";
  let description = [{The gradient is shared evenly by all entries that equal the maximum, as in JAX.}];
  let kind = "max";
  let vjp = ["share_ties(d_y, x, y, $axes)"];
  let reference = "numpy.max(x, axis=tuple(axes))";
}
def MG_ReduceMinOp : MG_Reduction<"reduce_min"> {
  let summary = "minimum over axes; NaN if any is";
  let description = [{The gradient is shared evenly by all entries that equal the minimum, as in JAX.}];
  let kind = "min";
  let vjp = ["share_ties(d_y, x, y, $axes)"];
  let reference = "numpy.min(x, axis=tuple(axes))";
}
def MG_ReduceMeanOp : MG_Op<"reduce_mean", [MG_ReducesAxes]> {
  let summary = "mean over axes";
  let arguments = (ins MG_Float:$x, DenseI64ArrayAttr:$axes);
  let results = (outs MG_Float:$y);
  let element = "x";
  let decompose = ["reduce_sum(x, axes = $axes) / count(x, $axes)"];
  let linear = "x";
  let reference = "numpy.mean(x, axis=tuple(axes))";
  let example = "mg.reduce_mean %x, axes = [1]";
  let sample = "x: ?x4xf64";
  let assemblyFormat = "$x `,` `axes` `=` $axes attr-dict custom<Types>(type($x), type($y))";
}

def MG_ArgMaxOp : MG_Op<"arg_max"> {
  let summary = "first position of the maximum along the last axis, as i64; the first NaN if there is one";
  let arguments = (ins MG_Number:$x);
  let results = (outs MG_Int:$y);
  let index = "...c->...; c:opaque";
  let element = "i64";
  let decompose = ["Custom"];
  let noGradient = "a position has no derivative";
  let reference = "numpy.argmax(x, axis=-1)";
  let example = "mg.arg_max %x";
  let sample = "x: ?x4xf64";
  let assemblyFormat = "$x attr-dict custom<Types>(type($x), type($y))";
}

#endif
