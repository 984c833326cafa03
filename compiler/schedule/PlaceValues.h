// Decides which memory each value of an entry has: an array of the state, or a
// numbered temporary. The rules are in Passes.td.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_PLACEVALUES_H
#define MG_COMPILER_SCHEDULE_PLACEVALUES_H

#include "compiler/schedule/EntryInput.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mg {

struct Placement {
  llvm::DenseMap<Value, mgrt::RangeAttr> ranges; // by root
  int64_t temporaries = 0;

  mgrt::RangeAttr of(Value value) const { return ranges.at(getRoot(value)); }
  mgrt::RangeAttr addTemporary(int64_t bytes, StringAttr name, MLIRContext *);
};

Placement placeValues(EntryInput &entry);

/// The value's name in the model, null if it has none.
StringAttr getLabel(Location location);

} // namespace mlir::mg

#endif // MG_COMPILER_SCHEDULE_PLACEVALUES_H
