// What mgc does, as a library: a model file in, a bundle or a stage's text out.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compiler/pipeline/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mg {

struct CompilerOptions {
  std::string input;  // file, or "-"
  std::string output; // bundle or text; "-" for text on standard output
  std::string emit;   // a stage's name, "llvm", "asm", or "" for a bundle
  std::string
      from; // a stage's name: the input is that stage's text; "" for a model
  std::vector<std::string> include; // folders of mg.include
  std::vector<std::string>
      insertedPasses; // "STAGE:pipeline": run behind that stage
  bool parameters = false, stats = false, explainCollectives = false;
  StageOptions stages;
};

/// Compiles; diagnostics go to standard error, tables that were asked for to
/// standard output. The output file appears whole or not at all.
LogicalResult compile(const CompilerOptions &options);

/// Layers, shapes, counts and FLOPs of a module after the gradient stage.
void printParameters(ModuleOp module, llvm::raw_ostream &stream);

} // namespace mlir::mg
