// The mgrt dialect, its enums and the range attribute. The ops are in MgrtOps.td.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_DIALECTS_MGRT_BASE
#define MG_DIALECTS_MGRT_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Mgrt_Dialect : Dialect {
  let name = "mgrt";
  let cppNamespace = "::mlir::mgrt";
  let summary = "The scheduled form: arrays at fixed offsets and flat command lists";
  let description = [{
    What a bundle stores, as text. A module in this form holds one `mgrt.state`
    (which array lies where), `mgrt.entry`s (flat lists of commands over byte
    ranges) and the kernels that `mgrt.launch` names. No values, no control
    flow: a device runs the commands of an entry from first to last.
  }];
  let useDefaultAttributePrinterParser = 1;
}

// Where a range lies. `temporary` exists until the arena is packed: the offset is then the number of the buffer.
def Mgrt_Region : I32EnumAttr<"Region", "memory region", [
  I32EnumAttrCase<"State", 0, "state">,
  I32EnumAttrCase<"Arena", 1, "arena">,
  I32EnumAttrCase<"Temporary", 2, "temporary">
]> {
  let cppNamespace = "::mlir::mgrt";
  let genSpecializedAttr = 0;
}

// What a stored array is for; compiler/RATIONALE.md C1.
def Mgrt_ArrayRole : I32EnumAttr<"ArrayRole", "role of an array", [
  I32EnumAttrCase<"Variable", 0, "variable">,
  I32EnumAttrCase<"Gradient", 1, "gradient">,
  I32EnumAttrCase<"Slot", 2, "slot">,
  I32EnumAttrCase<"Scalar", 3, "scalar">,
  I32EnumAttrCase<"Input", 4, "input">,
  I32EnumAttrCase<"Output", 5, "output">,
  I32EnumAttrCase<"MetricWindow", 6, "metric_window">,
  I32EnumAttrCase<"MetricEpoch", 7, "metric_epoch">,
  I32EnumAttrCase<"MetricEvaluation", 8, "metric_evaluation">,
  I32EnumAttrCase<"CheckWindow", 9, "check_window">,
  I32EnumAttrCase<"CheckEvaluation", 10, "check_evaluation">,
  I32EnumAttrCase<"Seed", 11, "seed">,
  I32EnumAttrCase<"Step", 12, "step">,
  I32EnumAttrCase<"Row0", 13, "row0">,
  I32EnumAttrCase<"Rows", 14, "rows">
]> {
  let cppNamespace = "::mlir::mgrt";
}

def Mgrt_EntryRole : I32EnumAttr<"EntryRole", "role of an entry", [
  I32EnumAttrCase<"Init", 0, "init">,
  I32EnumAttrCase<"AccumulateFirst", 1, "accumulate_first">,
  I32EnumAttrCase<"Accumulate", 2, "accumulate">,
  I32EnumAttrCase<"Update", 3, "update">,
  I32EnumAttrCase<"Evaluate", 4, "evaluate">,
  I32EnumAttrCase<"Predict", 5, "predict">
]> {
  let cppNamespace = "::mlir::mgrt";
}

def Mgrt_Reduction : I32EnumAttr<"Reduction", "reduction of a collective", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Prod", 3, "prod">
]> {
  let cppNamespace = "::mlir::mgrt";
}

def Mgrt_RangeAttr : AttrDef<Mgrt_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "region, offset and size in bytes, and whose memory it is";
  let description = [{
    `#mgrt.range<state, 0, 1605632, "hidden1.kernel">`. The name is for people
    and has no meaning; two ranges are the same memory if the numbers agree.
  }];
  let parameters = (ins
    EnumParameter<Mgrt_Region>:$region,
    "int64_t":$offset,
    "int64_t":$bytes,
    OptionalParameter<"StringAttr">:$name);
  let assemblyFormat = "`<` $region `,` $offset `,` $bytes (`,` $name^)? `>`";
  let extraClassDeclaration = [{
    int64_t getEnd() const { return getOffset() + getBytes(); }
    bool sameMemory(RangeAttr other) const;
    /// Whether some byte belongs to both. Temporaries meet only themselves.
    bool overlaps(RangeAttr other) const;
  }];
  let genVerifyDecl = 1;
}

#endif // MG_DIALECTS_MGRT_BASE
