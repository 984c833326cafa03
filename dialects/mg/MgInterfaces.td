// The one interface of mg's mathematical ops; mg-tblgen generates every method from the op's record.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_INTERFACES_TD
#define MG_INTERFACES_TD

include "mlir/IR/OpBase.td"

def MG_MathOpInterface : OpInterface<"MathOp"> {
  let cppNamespace = "::mlir::mg";
  let description = [{
    What the stages need to know of an op without knowing which one it is.
  }];
  let methods = [
    InterfaceMethod<"The loop nest: a map an operand and result, the kind of each letter.",
      "::mlir::mg::IndexSpec", "getIndexSpec", (ins)>,
    InterfaceMethod<"True if the op has scalar code, i.e. can be a linalg.generic.", "bool", "hasBody", (ins)>,
    InterfaceMethod<"Emits the scalar code at one point; `operands` are scalars. One value a result.",
      "void", "emitBody", (ins "::mlir::mg::ScalarBuilder &":$builder, "::mlir::ValueRange":$operands,
                               "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
    InterfaceMethod<"True if the op has a derivative of its own.", "bool", "hasVjp", (ins)>,
    InterfaceMethod<"Why the op has no derivative; empty if it has one.", "::llvm::StringRef", "getNoGradientReason", (ins)>,
    InterfaceMethod<"Appends one gradient an operand (null where none flows), given one an result (never null).",
      "void", "buildVjp", (ins "::mlir::mg::RuleBuilder &":$builder, "::mlir::ValueRange":$gradients,
                               "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>,
    InterfaceMethod<"True if the op is defined by other ops.", "bool", "isComposite", (ins)>,
    InterfaceMethod<"Builds the op's meaning from other ops; one value a result.",
      "::mlir::LogicalResult", "buildDecomposition", (ins "::mlir::mg::RuleBuilder &":$builder, "bool":$training,
                               "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
    InterfaceMethod<"True if the op is linear in exactly this set of operands (bit mask), the others fixed.",
      "bool", "isLinearIn", (ins "unsigned":$operandMask)>,
    InterfaceMethod<"True if the op only moves or repeats elements of its one operand.", "bool", "onlyMoves", (ins)>,
    InterfaceMethod<"The operand that holds positions and how many there are; no value if there is none.",
      "std::optional<::mlir::mg::Bounds>", "getBounds", (ins)>,
  ];
}

#endif
