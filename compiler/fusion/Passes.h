// The kernels stage: mg ops become launches of kernels, each one fused group
// (RATIONALE C2).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mg {

/// `--mg-expand-composites`: every composite becomes the primitives that define
/// it.
std::unique_ptr<Pass> createExpandCompositesPass();
/// `--mg-form-kernels`: groups primitives and outlines each group as a kernel
/// of linalg.generic; equal kernels become one.
std::unique_ptr<Pass> createFormKernelsPass();
void registerFusionPasses();

} // namespace mlir::mg
