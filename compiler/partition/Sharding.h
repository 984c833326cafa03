// How each value of a function lies over the devices, derived from index maps
// alone. No op is known by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {

/// Axes of the grid @devices, bit i for axis i.
using GridAxes = unsigned;

/// How a value lies over the grid; its type is that of one device's part.
struct Sharding {
  SmallVector<GridAxes> split; // of each dimension: the axes that divide it
  /// Partial: the values of the devices along these axes, combined by `kind`,
  /// give the whole one.
  GridAxes partial = 0;
  LetterKind kind = LetterKind::Sum;

  static Sharding replicated(Value value) {
    return {SmallVector<GridAxes>(tensorOf(value).getRank(), 0)};
  }
};

/// Shardings of all values of one function, in program order.
class ShardingAnalysis {
public:
  /// Seeds arguments by `mg.sharding`, the grid axes that split each dimension
  /// as in upstream's `split_axes` ([[0], []]: rows along axis 0), and by
  /// `mg.partial` = "sum", "product", "max" or "min" (over all axes, or those
  /// of `mg.partial_axes`); else by role: inputs are split by rows along axis
  /// 0, gradients and metric windows are partial sums, check windows partial
  /// maxima. Errors: a hint that does not fit the value or the grid; an op that
  /// needs the whole extent of a split dimension; operands that are split
  /// differently; an all-reduce of what is not partial.
  LogicalResult run(func::FuncOp function);

  const Sharding &of(Value value) const { return shardings.at(value); }
  /// The first op that needs `operand` whole, as (op, operand number) pairs;
  /// the return needs what its roles say.
  SmallVector<OpOperand *> wholeUses;

private:
  LogicalResult seed(func::FuncOp function, BlockArgument argument);
  LogicalResult visit(Operation *op);
  LogicalResult visitReduce(Operation *op);
  LogicalResult visitMath(MathOp op);
  void visitReturn(func::FuncOp function, Operation *op);

  int64_t rank = 1; // of the grid
  llvm::DenseMap<Value, Sharding> shardings;
};

/// True if `op` gives a partial result of the same kind for partial operands
/// `mask` (bit i: operand i).
bool passesPartial(Operation *op, unsigned mask, LetterKind kind);

StringRef stringifyKind(LetterKind kind);

} // namespace mlir::mg
