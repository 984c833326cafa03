// The gradient stage: trainings become the pure entry functions that the
// runtime calls (RATIONALE C1, C6).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mg {

/// `--mg-build-entries`: init, and for each training accumulate_first,
/// accumulate, update, evaluate; for each prediction predict.
std::unique_ptr<Pass> createBuildEntriesPass();
void registerAutodiffPasses();

} // namespace mlir::mg
