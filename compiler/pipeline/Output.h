// What the compiler writes is whole or not there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_PIPELINE_OUTPUT_H
#define MG_COMPILER_PIPELINE_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace mlir::mg {

/// Puts `content` in the place of the file at `path` (or of what a link there
/// names) once all of it is on the disk; on an error that file is as before.
std::error_code replaceFile(llvm::StringRef path, llvm::StringRef content);

/// Flushes llvm::outs() and says whether all that went there was written.
std::error_code finishStandardOutput();

} // namespace mlir::mg

#endif // MG_COMPILER_PIPELINE_OUTPUT_H
