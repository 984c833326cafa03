// Pass order, stage by stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Pipeline.h"

#include "compiler/autodiff/Passes.h"
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/fusion/Passes.h"
#include "compiler/model/Passes.h"
#include "compiler/partition/Passes.h"
#include "compiler/schedule/Passes.h"
#include "dialects/mg/Mg.h"
#include "dialects/mgrt/Mgrt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::mg {

static constexpr StringRef names[] = {"model",   "gradient", "partition",
                                      "kernels", "schedule", "code"};
ArrayRef<StringRef> stageNames() { return names; }
std::optional<Stage> parseStage(StringRef name) {
  const StringRef *found = llvm::find(names, name);
  return found == std::end(names)
             ? std::nullopt
             : std::optional<Stage>(static_cast<Stage>(found - names));
}

void buildStage(OpPassManager &passes, Stage stage,
                const StageOptions &options) {
  switch (stage) {
  case Stage::Model:
    passes.addPass(createInstantiateModelPass(options.units));
    passes.addPass(createCSEPass());
    return;
  case Stage::Gradient:
    passes.addPass(createBuildEntriesPass());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    return;
  case Stage::Partition:
    passes.addPass(createPlaceAllReducesPass());
    passes.addPass(createHoistAllReducesPass());
    passes.addPass(createCSEPass());
    return;
  case Stage::Kernels:
    passes.addPass(createExpandCompositesPass());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createFormKernelsPass());
    return;
  case Stage::Schedule: {
    passes.addPass(createAssignState());
    passes.addPass(createScheduleEntries());
    OpPassManager &entries = passes.nest<mgrt::EntryOp>();
    entries.addPass(createBucketAllReduces());
    PackArenaOptions arena;
    arena.check = options.checkArena;
    entries.addPass(createPackArena(arena));
    return;
  }
  case Stage::Code:
    passes.addPass(createCompileCpuKernelsPass(options.cpus));
    return;
  }
}

void registerMgDialects(DialectRegistry &registry) {
  registry.insert<MGDialect, mgrt::MgrtDialect, arith::ArithDialect,
                  func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  shard::ShardDialect, tensor::TensorDialect,
                  vector::VectorDialect>();
}

void registerMgPasses() {
  registerModelPasses();
  registerAutodiffPasses();
  registerPartitionPasses();
  registerFusionPasses();
  registerSchedulePasses();
  registerCpuCodegenPasses();
  for (StringRef name : stageNames()) {
    Stage stage = *parseStage(name);
    registerPassPipeline(
        ("mg-stage-" + name).str(), ("The " + name + " stage").str(),
        [stage](OpPassManager &passes, StringRef,
                function_ref<LogicalResult(const Twine &)>) {
          buildStage(passes, stage, {});
          return success();
        },
        [](function_ref<void(const ::mlir::detail::PassOptions &)>) {});
  }
}

} // namespace mlir::mg
