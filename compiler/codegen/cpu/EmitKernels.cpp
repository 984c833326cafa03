// --mg-emit-cpu-kernels: each kernel on tensors becomes a function of loops
// over vectors, with the kernel ABI.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mg;

/// void (void *const *bindings, const int64_t *scalars, uint32_t x, y, z)
static FunctionType kernelType(OpBuilder &b) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  return b.getFunctionType({pointer, pointer, i32, i32, i32}, {});
}

static int64_t emitBody(LoopBuilder &loops) {
  if (!loops.kernel.root)
    return emitPointwise(loops);
  if (std::optional<int64_t> blocks = emitContraction(loops))
    return *blocks;
  return emitReduction(loops);
}

static LogicalResult emitKernel(func::FuncOp func, const CpuModel &model) {
  FailureOr<Kernel> kernel = analyzeKernel(func);
  if (failed(kernel))
    return failure();
  ImplicitLocOpBuilder b(func.getLoc(), func);
  auto emitted = func::FuncOp::create(b, func.getName(), kernelType(b));
  emitted->setDiscardableAttrs(func->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(emitted.addEntryBlock());
  LoopBuilder loops(b, *kernel, model, emitted);
  int64_t blocks = emitBody(loops);
  func::ReturnOp::create(b);
  emitted->setAttr(kGridAttr, b.getDenseI64ArrayAttr({blocks, 1, 1}));
  func.erase();
  return success();
}

namespace {
struct EmitCpuKernels
    : public PassWrapper<EmitCpuKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitCpuKernels)
  EmitCpuKernels() = default;
  EmitCpuKernels(const EmitCpuKernels &other) : PassWrapper(other) {}
  explicit EmitCpuKernels(StringRef cpu) { this->cpu = cpu.str(); }

  StringRef getArgument() const final { return "mg-emit-cpu-kernels"; }
  StringRef getDescription() const final {
    return "replace kernels on tensors by loops over vectors";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, scf::SCFDialect,
                    math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() final {
    ModuleOp module = getOperation();
    FailureOr<CpuTarget> target =
        parseCpuTarget(cpu, [&] { return module.emitError(); });
    if (failed(target))
      return signalPassFailure();
    CpuModel model = CpuModel::of(*target);
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(kKernelAttr) && !func.isExternal())
        kernels.push_back(func);
    for (func::FuncOp func : kernels)
      if (failed(emitKernel(func, model)))
        return signalPassFailure();
  }

  Option<std::string> cpu{*this, "cpu", llvm::cl::init("host"),
                          llvm::cl::desc("host, an LLVM CPU name, features")};
};
} // namespace

std::unique_ptr<Pass> mlir::mg::createEmitCpuKernelsPass(StringRef cpu) {
  return std::make_unique<EmitCpuKernels>(cpu);
}
