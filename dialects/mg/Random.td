// Random values: pure functions of seed, step, row and op key (RATIONALE C7), so that no pass and no device count can change them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_RANDOM_TD
#define MG_RANDOM_TD
include "dialects/mg/MgBase.td"

def MG_ControlAttr : I32EnumAttr<"Control", "what the runtime knows of a step", [
    I32EnumAttrCase<"seed", 0>, I32EnumAttrCase<"step", 1>, I32EnumAttrCase<"row0", 2>, I32EnumAttrCase<"rows", 3>]> {
  let cppNamespace = "::mlir::mg";
}
def MG_ControlOp : MG_Op<"control"> {
  let summary = "seed, step, first row of the unit in the window, or its number of valid rows: an i64 of rank 0";
  let arguments = (ins MG_ControlAttr:$which);
  let results = (outs MG_Number:$y);
  let index = "->";
  let element = "i64";
  let noGradient = "it depends on nothing that is trained";
  let assemblyFormat = "$which attr-dict custom<ResultType>(type($y))";
}

def MG_RandomBitsOp : MG_Op<"random_bits"> {
  let summary = "32 random bits an element by Philox4x32-10";
  let description = [{
    Counter (block, row0 + first index, step, key), key = seed; element e of a row (its other indices, row-major) is word e mod 4 of
    block e / 4. With `rows = false` the whole array is one row, row 0.
  }];
  let source = "Salmon et al., SC 2011; Random123";
  let arguments = (ins MG_Number:$seed, MG_Number:$step, MG_Number:$row0, I32Attr:$key, DenseI64ArrayAttr:$shape, BoolAttr:$rows);
  let results = (outs MG_Number:$y);
  let element = "i32";
  let body = "Custom";
  let noGradient = "random bits depend on nothing that is trained";
  let assemblyFormat = "$seed `,` $step `,` $row0 `,` `key` `=` $key `,` `shape` `=` $shape `,` `rows` `=` $rows attr-dict custom<Types>(type($seed), type($step), type($row0), type($y))";
}

def MG_KeepMaskOp : MG_Op<"keep_mask"> {
  let summary = "dropout's mask: true with probability 1 - rate, where the random bits are below (1 - rate)·2^32";
  let arguments = (ins MG_Int:$seed, MG_Int:$step, MG_Int:$row0, F64Attr:$rate, I32Attr:$key, DenseI64ArrayAttr:$shape);
  let results = (outs MG_Bool:$y);
  let element = "i1";
  let decompose = ["Custom"];
  let noGradient = "random bits depend on nothing that is trained";
  let assemblyFormat = "$seed `,` $step `,` $row0 `,` `rate` `=` $rate `,` `key` `=` $key `,` `shape` `=` $shape attr-dict custom<Types>(type($seed), type($step), type($row0), type($y))";
}

def MG_DropoutOp : MG_Op<"dropout"> {
  let summary = "in training, zeroes each element with probability rate and scales the others by 1 / (1 - rate); else the identity";
  let description = [{`rate = 1` gives zeros (and zero gradient), `rate = 0` the identity. The mask is the same on any device count.}];
  let source = "Srivastava et al., JMLR 2014";
  let arguments = (ins MG_Float:$x, F64Attr:$rate, OptionalAttr<I32Attr>:$key);
  let results = (outs MG_Float:$y);
  let index = "...->...";
  let element = "x";
  let decompose = ["Custom"];
  let outsideTraining = ["x"];
  let reference = "x";
  let hasVerifier = 1;
  let example = "mg.dropout %x, 0.5";
  let sample = "x: ?x4xf64";
  let assemblyFormat = "$x `,` $rate (`key` $key^)? attr-dict custom<Types>(type($x), type($y))";
}

#endif
