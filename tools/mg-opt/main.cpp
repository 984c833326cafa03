// mg-opt: every pass and stage on MLIR text, for people who write passes.
// MLIR's usual options.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::mg::registerMgDialects(registry);
  mlir::mg::registerMgPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "mg-opt: passes and stages of the mg compiler\n", registry));
}
