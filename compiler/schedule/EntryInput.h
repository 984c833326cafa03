// What the schedule stage reads: entry functions and the few ops in them
// (compiler/RATIONALE.md C1, C2). The ops of the mg and shard dialects are
// named in EntryInput.cpp only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_ENTRYINPUT_H
#define MG_COMPILER_SCHEDULE_ENTRYINPUT_H

#include "dialects/mgrt/Mgrt.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {

bool isEntry(func::FuncOp function);
bool isLaunch(Operation *op);
bool isAllReduce(Operation *op);

FlatSymbolRefAttr getKernel(Operation *launch);
/// Whether `result` of a launch or all-reduce may lie where `operand` lies.
bool mayShare(Operation *command, unsigned operand, unsigned result);

/// The value whose bytes `value` shows: through views, else itself.
Value getRoot(Value value);
/// The uses of a root's bytes by commands and the return, also through views.
SmallVector<OpOperand *> getUses(Value root);

/// An entry function with the array of each argument and result.
struct EntryInput {
  func::FuncOp function;
  mgrt::EntryRole role;
  StringAttr owner; // null for init
  int64_t unit = 0;
  SmallVector<mgrt::ArrayOp> arguments;
  SmallVector<mgrt::ArrayOp> results;

  Block &body() { return function.getBody().front(); }
  Operation *terminator() { return body().getTerminator(); }
};

/// Reads the attributes of an entry and finds its arrays. Errors: unknown
/// roles, names or ops, types that do not fit the array, two arguments or two
/// results of one array.
FailureOr<EntryInput> readEntry(func::FuncOp function, mgrt::StateOp state);

/// The bytes of `array` that a value of `type` takes: all, or the first rows of
/// an input or output.
mgrt::RangeAttr getRange(mgrt::ArrayOp array, Type type);

/// The reduction over all devices; an error if it is of another kind or over a
/// part of the devices.
FailureOr<mgrt::Reduction> readReduction(Operation *allReduce);

} // namespace mlir::mg

#endif // MG_COMPILER_SCHEDULE_ENTRYINPUT_H
