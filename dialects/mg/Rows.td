// What the compiler adds so that only rows that are there count: a unit is filled up where the data ends (RATIONALE C6), and `rows`
// says how many of its rows are valid. Composites, so that a training step reads as mathematics until the kernels stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_ROWS_TD
#define MG_ROWS_TD
include "dialects/mg/MgBase.td"

def MG_MaskRowsOp : MG_Op<"mask_rows"> {
  let summary = "x in the first `rows` rows, 0 in the others";
  let arguments = (ins MG_Float:$x, MG_Int:$rows);
  let results = (outs MG_Float:$y);
  let index = "...,->...";
  let element = "x";
  let decompose = ["Custom"];
  let vjp = ["mask_rows(d_y, rows)", "none"];
  let linear = "x";
  let assemblyFormat = "$x `,` $rows attr-dict custom<Types>(type($x), type($rows), type($y))";
}

def MG_RowSumsOp : MG_Op<"row_sums"> {
  let summary = "Σ weight·x and Σ weight over the first `rows` rows, as two f64: what a weighted mean is made of";
  let arguments = (ins MG_Float:$x, MG_Float:$weight, MG_Int:$rows);
  let results = (outs MG_Float:$y);
  let element = "f64";
  let decompose = ["Custom"];
  let noGradient = "sums for reports depend on nothing that is trained";
  let assemblyFormat = "$x `,` $weight `,` $rows attr-dict custom<Types>(type($x), type($weight), type($rows), type($y))";
}

def MG_FirstBadRowOp : MG_Op<"first_bad_row"> {
  let summary = "the first of `rows` rows with a position outside 0 … extent - 1, as (2^62 - row, position); (0, 0) if there is none";
  let description = [{The larger of two such pairs is that of the earlier row, so that devices agree on one by a maximum.}];
  let arguments = (ins MG_Int:$positions, MG_Int:$row0, MG_Int:$rows, I64Attr:$extent);
  let results = (outs MG_Int:$y);
  let element = "i64";
  let decompose = ["Custom"];
  let noGradient = "a position has no derivative";
  let assemblyFormat = "$positions `,` $row0 `,` $rows `,` `extent` `=` $extent attr-dict custom<Types>(type($positions), type($row0), type($rows), type($y))";
}

#endif
