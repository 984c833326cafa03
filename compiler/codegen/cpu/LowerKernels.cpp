// --mg-lower-cpu-kernels: scf, vector, arith and math to the LLVM dialect, with
// math functions as polynomials where those are accurate and as libm calls
// where they are not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/CpuCodegen.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mg;

/// f32 functions that become polynomials. What is not here (pow: exact cases;
/// f64) goes to libm.
static bool isPolynomial(StringRef op) {
  static constexpr StringLiteral kOps[] = {
      "math.exp",   "math.expm1", "math.log",  "math.log1p", "math.log2",
      "math.tanh",  "math.erf",   "math.sin",  "math.cos",   "math.atan",
      "math.atan2", "math.acos",  "math.asin", "math.cbrt",  "math.erfc"};
  return llvm::is_contained(kOps, op);
}

namespace {
struct ApproximateMath : public PassWrapper<ApproximateMath, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMath)
  StringRef getArgument() const final { return "mg-approximate-math"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, isPolynomial);
    math::populateExpansionPatterns(
        patterns, {"rsqrt", "sinh", "cosh", "tan", "ctlz", "clampf"});
    arith::populateArithExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void mlir::mg::buildLowerCpuKernelsPipeline(OpPassManager &passes) {
  passes.addPass(createCSEPass());
  passes.addPass(std::make_unique<ApproximateMath>());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}
