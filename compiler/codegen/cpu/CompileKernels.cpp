// --mg-compile-cpu-kernels: the stage. Kernels go in with bodies; out come
// declarations, and an object a CPU on the module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/CpuCodegen.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::mg;

static SmallVector<func::FuncOp> kernelsOf(ModuleOp module) {
  SmallVector<func::FuncOp> kernels;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->hasAttr(kKernelAttr) && !func.isExternal())
      kernels.push_back(func);
  return kernels;
}

/// What a kernel computes, as text, without its name.
static std::string bodyText(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << func.getFunctionType();
  OpPrintingFlags flags;
  flags.useLocalScope();
  for (Operation &op : func.front())
    op.print(stream, flags);
  return text;
}

/// Copies kernels into `target`; of equal ones the first alone. Returns the
/// others with the name of the first.
static llvm::StringMap<std::string> copyKernels(ArrayRef<func::FuncOp> kernels,
                                                ModuleOp target) {
  llvm::StringMap<std::string> firstByText, sameAs;
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  for (func::FuncOp kernel : kernels) {
    auto [first, isNew] =
        firstByText.try_emplace(bodyText(kernel), kernel.getName().str());
    if (isNew)
      b.clone(*kernel);
    else
      sameAs[kernel.getName()] = first->second;
  }
  return sameAs;
}

/// Declares the kernels that share another's code.
static void declareCopies(ModuleOp module,
                          const llvm::StringMap<std::string> &sameAs,
                          ArrayRef<func::FuncOp> kernels) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  for (func::FuncOp kernel : kernels) {
    auto first = sameAs.find(kernel.getName());
    if (first == sameAs.end())
      continue;
    auto code = module.lookupSymbol<LLVM::LLVMFuncOp>(first->second);
    auto copy = LLVM::LLVMFuncOp::create(b, code.getLoc(), kernel.getName(),
                                         code.getFunctionType());
    copy->setAttr(kSameAsAttr,
                  FlatSymbolRefAttr::get(module.getContext(), first->second));
    copy->setAttr(kGridAttr, code->getAttr(kGridAttr));
  }
}

static DictionaryAttr gridsOf(ModuleOp lowered) {
  SmallVector<NamedAttribute> grids;
  for (auto code : lowered.getOps<LLVM::LLVMFuncOp>())
    if (Attribute grid = code->getAttr(kGridAttr))
      grids.emplace_back(code.getNameAttr(), grid);
  return DictionaryAttr::get(lowered.getContext(), grids);
}

static DictionaryAttr describeObject(ModuleOp lowered, const CpuTarget &target,
                                     ArrayRef<char> image) {
  Builder b(lowered.getContext());
  SmallVector<Attribute> features;
  for (const std::string &feature : requiredFeatures(target))
    features.push_back(b.getStringAttr(feature));
  auto type = RankedTensorType::get({static_cast<int64_t>(image.size())},
                                    b.getI8Type());
  return b.getDictionaryAttr({
      b.getNamedAttr("kind", b.getStringAttr("cpu")),
      b.getNamedAttr("cpu", b.getStringAttr(target.cpu)),
      b.getNamedAttr("features", b.getArrayAttr(features)),
      b.getNamedAttr("grids", gridsOf(lowered)),
      b.getNamedAttr("image", DenseElementsAttr::getFromRawBuffer(type, image)),
  });
}

namespace {
struct CompileCpuKernels
    : public PassWrapper<CompileCpuKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompileCpuKernels)
  CompileCpuKernels() = default;
  CompileCpuKernels(const CompileCpuKernels &other) : PassWrapper(other) {}
  explicit CompileCpuKernels(ArrayRef<std::string> names) { cpus = names; }

  StringRef getArgument() const final { return "mg-compile-cpu-kernels"; }
  StringRef getDescription() const final {
    return "compile kernels to x86-64 shared objects on the module";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    OpPassManager passes(ModuleOp::getOperationName());
    buildPasses(passes, "host");
    passes.getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }
  void runOnOperation() final;

  ListOption<std::string> cpus{
      *this, "cpus",
      llvm::cl::desc("host or an LLVM CPU name, features; an object each")};
  Option<std::string> llvmFile{*this, "llvm", llvm::cl::init(""),
                               llvm::cl::desc("write LLVM IR to this file")};
  Option<std::string> assemblyFile{
      *this, "asm", llvm::cl::init(""),
      llvm::cl::desc("write assembly to this file")};

private:
  static void buildPasses(OpPassManager &passes, StringRef cpu) {
    passes.addPass(createEmitCpuKernelsPass(cpu));
    buildLowerCpuKernelsPipeline(passes);
  }
  /// Lowers the kernels in a module nested in this one; null on failure.
  ModuleOp lowerCopy(ArrayRef<func::FuncOp> kernels, StringRef cpu);
  FailureOr<std::vector<char>> generate(ModuleOp lowered,
                                        const CpuTarget &target);
  /// The kernels' object for one CPU.
  FailureOr<DictionaryAttr> compile(ArrayRef<func::FuncOp> kernels,
                                    StringRef cpu);
};
} // namespace

ModuleOp CompileCpuKernels::lowerCopy(ArrayRef<func::FuncOp> kernels,
                                      StringRef cpu) {
  ModuleOp module = getOperation();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto copy = ModuleOp::create(b, module.getLoc());
  llvm::StringMap<std::string> sameAs = copyKernels(kernels, copy);
  OpPassManager passes(ModuleOp::getOperationName());
  buildPasses(passes, cpu);
  if (failed(runPipeline(passes, copy))) {
    copy.erase();
    return nullptr;
  }
  declareCopies(copy, sameAs, kernels);
  return copy;
}

FailureOr<std::vector<char>>
CompileCpuKernels::generate(ModuleOp lowered, const CpuTarget &target) {
  std::error_code error;
  CpuDump dump;
  std::optional<llvm::raw_fd_ostream> llvmIr, assembly;
  if (!llvmFile.empty())
    dump.llvmIr = &llvmIr.emplace(llvmFile, error);
  if (!error && !assemblyFile.empty())
    dump.assembly = &assembly.emplace(assemblyFile, error);
  if (error)
    return getOperation().emitError()
               << "cannot write a dump: " << error.message(),
           failure();
  return compileCpuObject(lowered, target, dump);
}

FailureOr<DictionaryAttr>
CompileCpuKernels::compile(ArrayRef<func::FuncOp> kernels, StringRef cpu) {
  ModuleOp module = getOperation();
  FailureOr<CpuTarget> target =
      parseCpuTarget(cpu, [&] { return module.emitError(); });
  if (failed(target))
    return failure();
  OwningOpRef<ModuleOp> lowered = lowerCopy(kernels, cpu);
  if (!lowered)
    return failure();
  FailureOr<std::vector<char>> image = generate(*lowered, *target);
  if (failed(image))
    return failure();
  return describeObject(*lowered, *target, *image);
}

void CompileCpuKernels::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> kernels = kernelsOf(module);
  if (kernels.empty())
    return;
  SmallVector<Attribute> objects;
  for (const std::string &cpu : cpus) {
    FailureOr<DictionaryAttr> object = compile(kernels, cpu);
    if (failed(object))
      return signalPassFailure();
    objects.push_back(*object);
  }
  module->setAttr(kObjectsAttr, ArrayAttr::get(&getContext(), objects));
  for (func::FuncOp kernel : kernels) {
    kernel.eraseBody();
    kernel.setPrivate();
  }
}

std::unique_ptr<Pass>
mlir::mg::createCompileCpuKernelsPass(ArrayRef<std::string> cpus) {
  return std::make_unique<CompileCpuKernels>(cpus);
}

void mlir::mg::registerCpuCodegenPasses() {
  registerPass([] { return createEmitCpuKernelsPass(); });
  registerPass([] { return createCompileCpuKernelsPass({"host"}); });
  PassPipelineRegistration<>("mg-lower-cpu-kernels",
                             "lower emitted CPU kernels to the LLVM dialect",
                             buildLowerCpuKernelsPipeline);
}
