// The schedule stage: tensors to memory at fixed offsets, functions to command
// lists. Order and meaning of the passes: Passes.td.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_PASSES_H
#define MG_COMPILER_SCHEDULE_PASSES_H

#include "dialects/mgrt/Mgrt.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mg {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/schedule/Passes.h.inc"
} // namespace mlir::mg

#endif // MG_COMPILER_SCHEDULE_PASSES_H
