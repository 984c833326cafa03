// The partition stage: the collectives that a program on many devices needs
// (RATIONALE C5).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mg {

/// `--mg-place-all-reduces`: a `shard.all_reduce` where a partial value is
/// first used by what is not linear in it.
std::unique_ptr<Pass> createPlaceAllReducesPass();
/// `--mg-hoist-all-reduces`: moves each up through linear ops to where it has
/// the fewest bytes.
std::unique_ptr<Pass> createHoistAllReducesPass();
void registerPartitionPasses();

} // namespace mlir::mg
