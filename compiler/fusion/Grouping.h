// Which ops run in one kernel. A group is at most one reduction or contraction,
// the point-wise ops that feed it, and those that follow at the same points.
// The choice is by index maps and uses alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mg {

struct Group {
  Operation *root = nullptr;    // the op with a reduced letter, if any
  SmallVector<Operation *> ops; // in program order, without free ops
  SmallVector<int64_t> shape;   // of its results
};

/// True if the op is cheaper to compute again in each kernel than to store:
/// constants, positions, broadcasts.
bool isFree(Operation *op);
/// True if the op can be in a kernel.
bool isComputed(Operation *op);
bool isReduction(Operation *op);
/// True if a linalg.generic can stream this operand: its map reaches all of it,
/// point by point. Else (mg.slice, mg.pad) the body loads it, so it has to be
/// in memory.
bool isStreamed(OpOperand &operand);
/// A sum of products of two operands.
bool isContraction(Operation *op);

/// The groups of a block in an order in which they can run. Every computed op
/// that is not free is in exactly one.
SmallVector<Group> groupOps(Block &block);

} // namespace mlir::mg
