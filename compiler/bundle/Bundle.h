// The end of the compiler: a scheduled module as a bundle file
// (runtime/schema/FORMAT.md), and what it holds as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_BUNDLE_BUNDLE_H
#define MG_COMPILER_BUNDLE_BUNDLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mg {

/// Writes `module` (mgrt entries with packed arenas, `mg.interface`,
/// `mg.objects`) as a bundle; the same module gives the same bytes. Nothing is
/// written on an error, which is reported at the op at fault.
LogicalResult writeBundle(ModuleOp module, llvm::raw_ostream &stream);

/// What each entry does and how much memory the program needs, for `mgc
/// --stats`.
void printStats(ModuleOp module, llvm::raw_ostream &stream);

/// Every collective with its size, kind, cause and model lines, for `mgc
/// --explain-comm`.
void explainCollectives(ModuleOp module, llvm::raw_ostream &stream);

} // namespace mlir::mg

#endif // MG_COMPILER_BUNDLE_BUNDLE_H
