// The one place where the pass order is written (DESIGN §1). A stage is a named
// pass pipeline, the same in mgc and mg-opt.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::mg {

/// model, gradient, partition, kernels, schedule, code: in this order.
enum class Stage { Model, Gradient, Partition, Kernels, Schedule, Code };
ArrayRef<StringRef> stageNames();
std::optional<Stage> parseStage(StringRef name);

struct StageOptions {
  SmallVector<int64_t> units{64};
  SmallVector<std::string> cpus{"host"};
  bool checkArena = false; // red zones, NaN in dead memory
};

/// Appends one stage's passes.
void buildStage(OpPassManager &passes, Stage stage,
                const StageOptions &options);

/// Every dialect that some stage uses, for parsing any stage's text.
void registerMgDialects(DialectRegistry &registry);
/// Every pass of ours, each stage as the pipeline `mg-stage-NAME`.
void registerMgPasses();

} // namespace mlir::mg
