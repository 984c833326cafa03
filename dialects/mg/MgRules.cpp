// The rules that mg-tblgen generates from op records: shapes, index maps,
// scalar code, derivatives, decompositions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

namespace mlir::mg {
#include "dialects/mg/MgRules.inc"
} // namespace mlir::mg
