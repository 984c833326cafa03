// Ops that move values without computing on them, and ops that make values from positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_SHAPE_TD
#define MG_SHAPE_TD
include "dialects/mg/MgBase.td"

def MG_ConstantOp : MG_Op<"constant", [ConstantLike, MG_SurfaceTyped]> {
  let summary = "a constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs MG_Number:$y);
  let element = "$value";
  let body = "Custom";
  let noGradient = "a constant depends on nothing";
  let reference = "value";
  let example = "mg.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>";
  let assemblyFormat = "attr-dict $value custom<ResultType>(type($y))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def MG_BroadcastOp : MG_Op<"broadcast"> {
  let summary = "repeats a value along new dimensions, StableHLO's broadcast_in_dim";
  let description = [{Dimension i of the operand becomes dimension `dims[i]` of the result; all other dimensions repeat.}];
  let arguments = (ins MG_Number:$x, DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$shape);
  let results = (outs MG_Number:$y);
  let element = "x";
  let body = "x";
  let vjp = ["sum_to(d_y, $dims)"];
  let linear = "x";
  let reference = "numpy.broadcast_to(x, shape)";
  let example = "mg.broadcast %x, dims = [1], shape = [2, 3]";
  let sample = "x: 3xf64";
  let hasFolder = 1;
  let assemblyFormat = "$x `,` `dims` `=` $dims `,` `shape` `=` $shape attr-dict custom<Types>(type($x), type($y))";
}

def MG_ReshapeOp : MG_Op<"reshape"> {
  let summary = "the same elements in row-major order under another shape; -1 once stands for what is left";
  let description = [{In a model file a leading `?` dimension (the batch) stays when `shape` begins with 0.}];
  let arguments = (ins MG_Number:$x, DenseI64ArrayAttr:$shape);
  let results = (outs MG_Number:$y);
  let element = "x";
  let vjp = ["reshape(d_y, shape = shape(x))"];
  let linear = "x";
  let reference = "x.reshape(x.shape[:1] + (6,))";
  let example = "mg.reshape %x, shape = [0, 6]";
  let sample = "x: ?x2x3xf64";
  let hasFolder = 1;
  let assemblyFormat = "$x `,` `shape` `=` $shape attr-dict custom<Types>(type($x), type($y))";
}

def MG_FlattenOp : MG_Op<"flatten"> {
  let summary = "one row per batch entry: all dimensions but the first in one";
  let arguments = (ins MG_Number:$x);
  let results = (outs MG_Number:$y);
  let element = "x";
  let decompose = ["reshape(x, shape = rows_by_rest(x))"];
  let linear = "x";
  let reference = "x.reshape(x.shape[0], -1)";
  let example = "mg.flatten %x";
  let sample = "x: ?x2x3xf64";
  let assemblyFormat = "$x attr-dict custom<Types>(type($x), type($y))";
}

def MG_TransposeOp : MG_Op<"transpose"> {
  let summary = "permutes dimensions: dimension i of the result is dimension permutation[i] of the operand";
  let arguments = (ins MG_Number:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs MG_Number:$y);
  let element = "x";
  let body = "x";
  let vjp = ["transpose(d_y, permutation = inverse($permutation))"];
  let linear = "x";
  let reference = "numpy.transpose(x, permutation)";
  let example = "mg.transpose %x, permutation = [0, 2, 1]";
  let sample = "x: ?x2x3xf64";
  let assemblyFormat = "$x `,` `permutation` `=` $permutation attr-dict custom<Types>(type($x), type($y))";
}

def MG_SliceOp : MG_Op<"slice"> {
  let summary = "elements start, start + stride, … below limit of one dimension";
  let arguments = (ins MG_Number:$x, I64Attr:$axis, I64Attr:$start, I64Attr:$limit, DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs MG_Number:$y);
  let element = "x";
  let body = "x";
  let vjp = ["pad_back(d_y, x, $axis, $start, $stride)"];
  let linear = "x";
  let reference = "x[:, 1:4:2]";
  let example = "mg.slice %x, axis = 1, 1 to 4 step 2";
  let sample = "x: ?x5xf64";
  let assemblyFormat = "$x `,` `axis` `=` $axis `,` $start `to` $limit (`step` $stride^)? attr-dict custom<Types>(type($x), type($y))";
}

def MG_PadOp : MG_Op<"pad"> {
  let summary = "puts zeros before, after and between the elements of one dimension";
  let arguments = (ins MG_Number:$x, I64Attr:$axis, I64Attr:$low, I64Attr:$high, DefaultValuedAttr<I64Attr, "0">:$interior);
  let results = (outs MG_Number:$y);
  let element = "x";
  let body = "Custom";
  let vjp = ["slice_back(d_y, x, $axis, $low, $interior)"];
  let linear = "x";
  let reference = "numpy.pad(x, ((0, 0), (1, 2)))";
  let example = "mg.pad %x, axis = 1, 1 and 2";
  let sample = "x: ?x3xf64";
  let assemblyFormat = "$x `,` `axis` `=` $axis `,` $low `and` $high (`between` $interior^)? attr-dict custom<Types>(type($x), type($y))";
}

def MG_ConcatenateOp : MG_Op<"concatenate"> {
  let summary = "operands one after the other along one dimension";
  let arguments = (ins Variadic<MG_Number>:$inputs, I64Attr:$axis);
  let results = (outs MG_Number:$y);
  let element = "inputs";
  let decompose = ["Custom"];
  let vjp = ["Custom"];
  let linear = "inputs";
  let reference = "numpy.concatenate([a, b], axis)";
  let example = "mg.concatenate %a, %b axis = 1";
  let sample = "a: ?x2xf64, b: ?x3xf64";
  let assemblyFormat = "$inputs `axis` `=` $axis attr-dict custom<VariadicTypes>(ref($inputs), type($inputs), type($y))";
}

def MG_IotaOp : MG_Op<"iota", [MG_SurfaceTyped]> {
  let summary = "the position along one dimension, as i64";
  let arguments = (ins I64Attr:$axis, DenseI64ArrayAttr:$shape);
  let results = (outs MG_Number:$y);
  let element = "i64";
  let body = "Custom";
  let noGradient = "a position depends on nothing";
  let reference = "numpy.broadcast_to(numpy.arange(3), shape)";
  let example = "mg.iota axis = 1, shape = [2, 3]";
  let assemblyFormat = "`axis` `=` $axis `,` `shape` `=` $shape attr-dict custom<ResultType>(type($y))";
}

//===-- Access by index

def MG_OneHotOp : MG_Op<"one_hot"> {
  let summary = "1 where the position along the new last dimension equals the index, else 0";
  let arguments = (ins MG_Int:$indices, I64Attr:$depth, TypeAttr:$to);
  let results = (outs MG_Number:$y);
  let index = "...->...d; d=depth";
  let element = "$to";
  let hasVerifier = 1;
  let body = "Custom";
  let noGradient = "an index has no derivative";
  let reference = "numpy.eye(depth)[indices]";
  let example = "mg.one_hot %indices, 4 to f64";
  let sample = "indices: ?xui8 below 4";
  let assemblyFormat = "$indices `,` $depth `to` $to attr-dict custom<Types>(type($indices), type($y))";
}

def MG_TakeOp : MG_Op<"take"> {
  let summary = "rows of a table by index, as NumPy's take along axis 0; an index outside the table gives zeros";
  let description = [{Repeated indices add up in the gradient (`mg.scatter_add`).}];
  let arguments = (ins MG_Float:$table, MG_Int:$indices);
  let results = (outs MG_Float:$y);
  let index = "vc,n->nc; v:sum";
  let bounds = "indices < table[0]";
  let element = "table";
  let body = "select(indices == position(v), table, 0)";
  let vjp = ["scatter_add(d_y, indices, extent = extent(table, 0))", "none"];
  let linear = "table";
  let reference = "table[indices]";
  let example = "mg.take %table, %indices";
  let sample = "table: 4x3xf64, indices: ?xi32 below 4";
  let assemblyFormat = "$table `,` $indices attr-dict custom<Types>(type($table), type($indices), type($y))";
}

def MG_ScatterAddOp : MG_Op<"scatter_add"> {
  let summary = "y[v] = Σ of the rows whose index is v; the adjoint of take";
  let arguments = (ins MG_Float:$x, MG_Int:$indices, I64Attr:$extent);
  let results = (outs MG_Float:$y);
  let index = "nc,n->vc; n:sum, v=extent";
  let hasVerifier = 1;
  let element = "x";
  let body = "select(indices == position(v), x, 0)";
  let vjp = ["take(d_y, indices)", "none"];
  let linear = "x";
  let reference = "numpy.eye(extent)[indices].T @ x";
  let example = "mg.scatter_add %x, %indices, 4";
  let sample = "x: 5x3xf64, indices: 5xi32 below 4";
  let assemblyFormat = "$x `,` $indices `,` $extent attr-dict custom<Types>(type($x), type($indices), type($y))";
}

#endif
