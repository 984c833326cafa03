// The model stage: the user's file becomes func.func on typed, static tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::mg {

/// `--mg-instantiate-model`: one typed function a `mg.train`, `mg.predict` and
/// unit size; calls inlined, broadcasts explicit, random ops keyed. Leaves
/// `mg.variables`, `mg.optimizer` and the functions (attributes mg.train or
/// mg.predict, mg.unit).
std::unique_ptr<Pass> createInstantiateModelPass(ArrayRef<int64_t> units = {
                                                     64});
void registerModelPasses();

/// Parses a model or stage file. A model's values get their names in the file
/// as NameLocs; a stage's text has them in its locations (`isStage`). Resolves
/// mg.include beside the file and in `includeFolders`. Errors are printed by
/// the context's handler; null then.
OwningOpRef<ModuleOp> readModel(llvm::SourceMgr &source, MLIRContext *context,
                                ArrayRef<std::string> includeFolders,
                                bool isStage = false);

/// The text of the built-in optimizers.
StringRef builtinLibrary();
/// Adds the built-in optimizers that `module` names and does not define.
LogicalResult addLibrary(ModuleOp module);

/// FNV-1a, 32 bits: the key of a random op from its path (RATIONALE C7).
uint32_t randomKey(StringRef path);

} // namespace mlir::mg
