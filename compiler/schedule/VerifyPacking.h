// Checks a packed command list against the temporaries that it was made from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_VERIFYPACKING_H
#define MG_COMPILER_SCHEDULE_VERIFYPACKING_H

#include "dialects/mgrt/Mgrt.h"

namespace mlir::mg {

/// Runs the commands of `entry` (still over temporaries) symbolically with
/// temporary i at `offsets[i]`: each read must find what was last written to
/// that temporary, undamaged by any other. The error is at the command that
/// reads or overlaps.
LogicalResult verifyPacking(mgrt::EntryOp entry, ArrayRef<int64_t> offsets);

} // namespace mlir::mg

#endif // MG_COMPILER_SCHEDULE_VERIFYPACKING_H
