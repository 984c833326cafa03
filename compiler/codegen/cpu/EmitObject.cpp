// LLVM dialect to machine code to an ELF shared object, all in this process;
// lld reads and writes temporary files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/CpuCodegen.h"

#include "lld/Common/Driver.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::mg;

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const CpuTarget &target) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(x86 && "LLVM was built without the X86 target");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(x86->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Vectors as wide as the emitters chose them; no call that was not written.
static void prepareFunctions(llvm::Module &module, const CpuModel &model) {
  std::string bits = std::to_string(model.vectorBytes * 8);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    function.setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
}

/// Kernels whose code is another's are second names of it.
static void addAliases(ModuleOp source, llvm::Module &module) {
  for (auto func : source.getOps<LLVM::LLVMFuncOp>()) {
    auto same = func->getAttrOfType<FlatSymbolRefAttr>(kSameAsAttr);
    if (!same)
      continue;
    llvm::Function *declaration = module.getFunction(func.getName());
    declaration->eraseFromParent();
    llvm::GlobalAlias::create(func.getName(),
                              module.getFunction(same.getValue()))
        ->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = false;
  options.SLPVectorization = false;
  options.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, options);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

static void emitCode(llvm::Module &module, llvm::TargetMachine &machine,
                     llvm::CodeGenFileType type,
                     SmallVectorImpl<char> &output) {
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  bool failed = machine.addPassesToEmitFile(passes, stream, nullptr, type);
  assert(!failed && "the X86 target emits objects and assembly");
  (void)failed;
  passes.run(module);
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {
/// A file that is gone when its owner is.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef suffix) {
    if (llvm::sys::fs::createTemporaryFile("mg-kernels", suffix, path))
      path.clear();
  }
  ~TemporaryFile() {
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
  bool write(ArrayRef<char> bytes) const {
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    file.write(bytes.data(), bytes.size());
    file.close();
    return !error && !file.has_error();
  }
  const char *name() { return path.c_str(); }

private:
  llvm::SmallString<128> path;
};
} // namespace

static LogicalResult runLld(ArrayRef<const char *> arguments,
                            std::string &messages) {
  static std::mutex mutex; // lld has global state
  std::lock_guard<std::mutex> lock(mutex);
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream,
                                    {{lld::Gnu, &lld::elf::link}});
  return success(result.retCode == 0);
}

/// An empty library named libm.so.6: linking against it records the need,
/// whatever libm this machine has.
static LogicalResult linkLibmStub(llvm::TargetMachine &machine,
                                  TemporaryFile &output,
                                  std::string &messages) {
  llvm::LLVMContext context;
  llvm::Module empty("libm", context);
  empty.setTargetTriple(machine.getTargetTriple());
  empty.setDataLayout(machine.createDataLayout());
  SmallVector<char, 0> object;
  emitCode(empty, machine, llvm::CodeGenFileType::ObjectFile, object);
  TemporaryFile input("o");
  return success(
      input.write(object) &&
      succeeded(runLld({"ld.lld", "-shared", "-m", "elf_x86_64", "-soname",
                        "libm.so.6", "-o", output.name(), input.name()},
                       messages)));
}

static FailureOr<std::vector<char>>
linkObject(Operation *op, llvm::TargetMachine &machine, ArrayRef<char> object) {
  TemporaryFile input("o"), libm("so"), output("so");
  std::string messages;
  if (!input.write(object) || failed(linkLibmStub(machine, libm, messages)) ||
      failed(
          runLld({"ld.lld", "-shared", "-m", "elf_x86_64", "-o", output.name(),
                  "--build-id=none", "--hash-style=gnu", "--strip-all", "-z",
                  "noexecstack", input.name(), "--no-as-needed", libm.name()},
                 messages)))
    return mlir::emitError(op->getLoc()) << "lld failed: " << messages,
           failure();
  auto buffer = llvm::MemoryBuffer::getFile(output.name());
  if (!buffer)
    return op->emitError() << "cannot read what lld wrote: "
                           << buffer.getError().message(),
           failure();
  StringRef bytes = (*buffer)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}

FailureOr<std::vector<char>> mlir::mg::compileCpuObject(ModuleOp source,
                                                        const CpuTarget &target,
                                                        const CpuDump &dump) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(source, context, "kernels");
  if (!module)
    return source.emitError("cannot translate kernels to LLVM IR"), failure();
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  module->setSourceFileName("kernels");
  prepareFunctions(*module, CpuModel::of(target));
  optimize(*module, *machine);
  addAliases(source, *module);
  if (dump.llvmIr)
    module->print(*dump.llvmIr, nullptr);
  if (dump.assembly) {
    SmallVector<char, 0> text;
    emitCode(*llvm::CloneModule(*module), *machine,
             llvm::CodeGenFileType::AssemblyFile, text);
    dump.assembly->write(text.data(), text.size());
  }
  SmallVector<char, 0> object;
  emitCode(*module, *machine, llvm::CodeGenFileType::ObjectFile, object);
  return linkObject(source, *machine, object);
}
