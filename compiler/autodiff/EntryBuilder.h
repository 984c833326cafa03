// Builds an entry: a pure function whose arguments and results say by role and
// name where they live (RATIONALE C1).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {

class EntryBuilder {
public:
  /// Starts `@name` before `at`; `entry` is the role of RATIONALE C1, `unit` 0
  /// where it has none.
  EntryBuilder(Operation *at, Location loc, StringRef name, StringRef entry,
               StringRef owner, int64_t unit);

  OpBuilder &body() { return builder; }
  Block &block() { return function.front(); }
  Location getLoc() { return function.getLoc(); }
  RuleBuilder rules(Value like) {
    return RuleBuilder(builder, function.getLoc(), like);
  }

  /// The argument of this role and name; made when first asked for.
  Value argument(Type type, StringRef role, StringRef name, Location loc);
  Value control(Control which);
  void result(Value value, StringRef role, StringRef name);

  /// Clones the ops of `source` with its arguments as inputs, its variables and
  /// controls as arguments. Metrics and objective stay. Returns the clones of
  /// what `source` returns.
  SmallVector<Value> cloneForward(func::FuncOp source);

  /// Ends the function with its results.
  func::FuncOp finish();

private:
  func::FuncOp function;
  OpBuilder builder;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  llvm::StringMap<Value> arguments;
};

/// Σ w·x and Σ w over the valid rows as tensor<2xf64>. `weight` may be null
/// (then 1).
Value weightedSums(EntryBuilder &entry, Value x, Value weight);
/// `value` where the row is valid, else 0, for values of one row or more
/// entries a row.
Value maskRows(EntryBuilder &entry, Value value);

/// A position that must lie in 0 … extent - 1.
struct IndexCheck {
  Value positions;
  int64_t extent;
  Operation *user;
};
SmallVector<IndexCheck> findChecks(Block &block, int64_t unit);
/// (2^62 - row, value) of the first bad row, or zeros (schema Check).
Value checkRecord(EntryBuilder &entry, const IndexCheck &check);
/// The worse of two check records.
Value worseRecord(EntryBuilder &entry, Value before, Value now);

} // namespace mlir::mg
