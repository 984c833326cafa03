// A group of mg ops as one function of linalg.generic on signless tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compiler/fusion/Grouping.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {

/// ui8 -> i8 and so on: after this stage signedness is in the ops.
Type signless(Type type);

struct OutlinedKernel {
  func::FuncOp function; // detached from any name; private, with mg.kernel,
                         // mg.flops, mg.bytes
  SmallVector<Value> operands; // values of the entry that it reads
  SmallVector<Value> results;  // values of the entry that it gives
  SmallVector<std::pair<int64_t, int64_t>>
      inplace; // operand, result pairs that may share memory
};

/// Builds the kernel of `group` at the end of `module`. `needed` says whether a
/// value is used outside the group.
OutlinedKernel outlineKernel(const Group &group, ModuleOp module,
                             llvm::function_ref<bool(Value)> needed);

} // namespace mlir::mg
