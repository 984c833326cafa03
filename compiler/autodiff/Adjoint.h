// Reverse mode over one block of mg ops: appends the ops that compute gradients
// (DESIGN §4).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::mg {

/// Expands composites without a derivative of their own, and ops whose meaning
/// depends on the mode, in `block`.
LogicalResult expandForMode(Block &block, bool training);

/// Gradients of Σ `seed`·`output` with respect to `wanted`, built at `builder`;
/// null where none flows. Warns once a location in `warned` of ops without
/// derivative that lie on a path.
FailureOr<SmallVector<Value>> adjoint(OpBuilder &builder, Value output,
                                      Value seed, ArrayRef<Value> wanted,
                                      llvm::DenseSet<Location> &warned);

/// The name in the model of a value, if it has one.
StringRef nameOf(Value value);
/// `loc` under another name.
Location renamed(Location loc, const Twine &name);

} // namespace mlir::mg
