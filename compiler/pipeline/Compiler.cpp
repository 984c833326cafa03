// Reading, running stages, writing. Start at compile().
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Compiler.h"

#include "compiler/bundle/Bundle.h"
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/model/Passes.h"
#include "compiler/pipeline/Output.h"
#include "dialects/mg/Mg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::mg {
namespace {

class Compilation {
public:
  explicit Compilation(const CompilerOptions &options) : options(options) {
    DialectRegistry registry;
    registerMgDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false); // the message and the model line say it
  }

  LogicalResult run() {
    if (failed(checkCpus()))
      return failure();
    std::string message;
    auto file = openInputFile(options.input, &message);
    if (!file)
      return fail(message);
    llvm::SourceMgr source;
    source.AddNewSourceBuffer(std::move(file), {});
    SourceMgrDiagnosticHandler handler(source, &context);
    OwningOpRef<ModuleOp> module =
        readModel(source, &context, options.include, !options.from.empty());
    if (!module || (options.from.empty() && failed(prepareModel(*module))) ||
        failed(verify(*module)) || failed(runStages(*module)))
      return failure();
    if (options.parameters)
      printParameters(*module, llvm::outs());
    if (options.stats)
      printStats(*module, llvm::outs());
    if (options.explainCollectives)
      mg::explainCollectives(*module, llvm::outs());
    if (failed(write(*module)))
      return failure();
    if (std::error_code error = finishStandardOutput())
      return fail("cannot write standard output: " + error.message());
    return success();
  }

private:
  static LogicalResult fail(const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }

  /// llvm and asm are views of the kernels before the code stage.
  bool emitsCode() const {
    return options.emit == "llvm" || options.emit == "asm";
  }
  Stage lastStage() const {
    if (emitsCode())
      return Stage::Schedule;
    std::optional<Stage> stage = parseStage(options.emit);
    return stage ? *stage : Stage::Code;
  }

  /// The option is at fault, not a place in the model.
  LogicalResult checkCpus() {
    std::string message;
    ScopedDiagnosticHandler keep(
        &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
    auto report = [&] { return emitError(UnknownLoc::get(&context)); };
    for (const std::string &cpu : options.stages.cpus)
      if (failed(parseCpuTarget(cpu, report)))
        return fail("--cpu: " + message);
    return success();
  }

  LogicalResult prepareModel(ModuleOp module) {
    if (module.getOps<ModelOp>().empty())
      return emitError(FileLineColLoc::get(
                 &context, options.input == "-" ? "<stdin>" : options.input, 1,
                 1))
             << "the file has no model, expected `mg.model @name { … }`";
    return addLibrary(module);
  }

  LogicalResult runStages(ModuleOp module) {
    std::optional<Stage> from = parseStage(options.from);
    PassManager passes(&context);
    applyDefaultTimingPassManagerCLOptions(passes);
    for (int stage = from ? (int)*from + 1 : 0; stage <= (int)lastStage();
         ++stage) {
      buildStage(passes, (Stage)stage, options.stages);
      if (failed(insertPasses(passes, stageNames()[stage])))
        return failure();
    }
    return passes.run(module);
  }
  LogicalResult insertPasses(OpPassManager &passes, StringRef stage) {
    for (StringRef text : options.insertedPasses) {
      auto [where, pipeline] = text.split(':');
      if (where == stage && failed(parsePassPipeline(pipeline, passes)))
        return failure();
    }
    return success();
  }

  LogicalResult write(ModuleOp module) {
    if (options.output.empty())
      return success();
    if (options.output == "-" && options.emit.empty())
      return fail("a bundle is no text: name a file with -o");
    if (llvm::sys::fs::file_status status;
        options.output != "-" &&
        !llvm::sys::fs::status(options.output, status) &&
        !llvm::sys::fs::is_regular_file(status))
      return fail(options.output + ": cannot write it: it is no regular file");
    if (llvm::sys::fs::equivalent(options.input, options.output))
      return fail(options.output + ": the output is the model itself");
    std::string content;
    llvm::raw_string_ostream stream(content);
    if (failed(writeTo(module, stream)))
      return failure();
    if (options.output == "-") {
      llvm::outs() << content;
      return success();
    }
    if (std::error_code error = replaceFile(options.output, content))
      return fail(options.output + ": cannot write it: " + error.message());
    return success();
  }
  LogicalResult writeTo(ModuleOp module, llvm::raw_ostream &stream) {
    if (options.emit.empty())
      return writeBundle(module, stream);
    if (emitsCode())
      return writeCode(module, stream);
    OpPrintingFlags flags;
    module->print(stream,
                  flags.enableDebugInfo(true, false).printNameLocAsPrefix());
    stream << "\n";
    return success();
  }
  LogicalResult writeCode(ModuleOp module, llvm::raw_ostream &stream) {
    for (const std::string &cpu : options.stages.cpus) {
      if (options.stages.cpus.size() > 1)
        stream << (options.emit == "llvm" ? "; " : "# ") << cpu << "\n";
      if (failed(writeCode(module, cpu, stream)))
        return failure();
    }
    return success();
  }
  LogicalResult writeCode(ModuleOp module, StringRef cpu,
                          llvm::raw_ostream &stream) {
    OwningOpRef<ModuleOp> kernels = module.clone();
    for (Operation &op : llvm::make_early_inc_range(*kernels->getBody()))
      if (!op.hasAttr(kKernelAttr))
        op.erase();
    FailureOr<CpuTarget> target =
        parseCpuTarget(cpu, [&] { return emitError(module.getLoc()); });
    if (failed(target))
      return failure();
    PassManager passes(&context);
    passes.addPass(createEmitCpuKernelsPass(cpu));
    buildLowerCpuKernelsPipeline(passes);
    if (failed(passes.run(*kernels)))
      return failure();
    CpuDump dump;
    (options.emit == "llvm" ? dump.llvmIr : dump.assembly) = &stream;
    return success(succeeded(compileCpuObject(*kernels, *target, dump)));
  }

  const CompilerOptions &options;
  MLIRContext context;
};

} // namespace

LogicalResult compile(const CompilerOptions &options) {
  return Compilation(options).run();
}

} // namespace mlir::mg
