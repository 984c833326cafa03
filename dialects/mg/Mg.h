// The mg dialect's C++ face: types, ops, and the builders that op records are
// translated to.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Index.h"
#include "dialects/mg/RuleBuilder.h"
#include "dialects/mg/ScalarBuilder.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::OpTrait::mg {
/// Operands are brought to one shape by NumPy's broadcasting when a model file
/// is read.
template <typename Op>
class ElementwiseBroadcast : public TraitBase<Op, ElementwiseBroadcast> {};
/// Has a second operand, as a value or as the number `by`.
template <typename Op>
class SecondOperand : public TraitBase<Op, SecondOperand> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    bool value = op->getNumOperands() == 2,
         number = (bool)cast<Op>(op).getByAttr();
    if (value != number)
      return success();
    return op->emitOpError(
        value ? "has a second operand and a number: leave out one of them"
              : "lacks its second operand: write `, %b` or `by 2.0`");
  }
};
/// Reduces the dimensions of its first operand that `axes` names.
template <typename Op> class ReducesAxes : public TraitBase<Op, ReducesAxes> {};
/// Its type follows from attributes alone.
template <typename Op>
class SurfaceTyped : public TraitBase<Op, SurfaceTyped> {};
} // namespace mlir::OpTrait::mg
namespace mlir::mg {
using OpTrait::mg::ElementwiseBroadcast;
using OpTrait::mg::ReducesAxes;
using OpTrait::mg::SecondOperand;
using OpTrait::mg::SurfaceTyped;
} // namespace mlir::mg

#include "dialects/mg/MgDialect.h.inc"
#include "dialects/mg/MgEnums.h.inc"
#include "dialects/mg/MgInterfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/mg/MgTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/mg/MgOps.h.inc"
