// How each value of a function lies over the devices, derived from index maps
// alone. No op is known by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {

/// A value on the data axis. Partial: the devices' values, combined by
/// `partial`, give the whole one.
struct Sharding {
  SmallVector<bool> split; // a dimension
  std::optional<LetterKind> partial;

  bool isSplit() const { return llvm::is_contained(split, true); }
  static Sharding replicated(Value value) {
    return {SmallVector<bool>(tensorOf(value).getRank(), false), std::nullopt};
  }
};

/// Shardings of all values of one function, in program order.
class ShardingAnalysis {
public:
  /// Seeds arguments by `mg.sharding` (an array of axis names a dimension, e.g.
  /// [["data"], []]) and `mg.partial`, else by role: inputs are split by rows,
  /// gradients and metric windows are partial sums, check windows partial
  /// maxima. Errors: an op that needs the whole extent of a split dimension; an
  /// all-reduce of what is not partial.
  LogicalResult run(func::FuncOp function);

  const Sharding &of(Value value) const { return shardings.at(value); }
  /// The first op that needs `operand` whole, as (op, operand number) pairs;
  /// the return needs what its roles say.
  SmallVector<OpOperand *> wholeUses;

private:
  Sharding seed(func::FuncOp function, BlockArgument argument);
  LogicalResult visit(Operation *op);
  LogicalResult visitReduce(Operation *op);
  void visitReturn(func::FuncOp function, Operation *op);

  llvm::DenseMap<Value, Sharding> shardings;
};

/// True if `op` gives a partial result of the same kind for partial operands
/// `mask` (bit i: operand i).
bool passesPartial(Operation *op, unsigned mask, LetterKind kind);

StringRef stringifyKind(LetterKind kind);

} // namespace mlir::mg
