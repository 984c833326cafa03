// mgc: a model file becomes a bundle. Arguments here; the work is
// compiler/pipeline/Compiler.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/model/Passes.h"
#include "compiler/pipeline/Compiler.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;
using namespace mlir::mg;

static cl::OptionCategory category("mgc");
static cl::opt<std::string> input(cl::Positional, cl::desc("MODEL"),
                                  cl::cat(category));
static cl::opt<std::string> output(
    "o",
    cl::desc("Bundle to write (with --emit: text, default standard output)"),
    cl::value_desc("OUT.mgb"), cl::cat(category));
static cl::list<int64_t>
    batchSize("batch-size", cl::CommaSeparated,
              cl::desc("Rows of a unit, the static batch; several share one "
                       "bundle (default 64)"),
              cl::value_desc("B[,B2…]"), cl::cat(category));
static cl::list<std::string> target("target", cl::CommaSeparated,
                                    cl::desc("What to generate code for: cpu"),
                                    cl::value_desc("cpu"), cl::cat(category));
static cl::list<std::string>
    cpu("cpu", cl::CommaSeparated,
        cl::desc("CPUs to generate code for; the runtime takes the best that "
                 "fits (default host)"),
        cl::value_desc("host|NAME[+feature…]"), cl::cat(category));
static cl::opt<std::string>
    emit("emit",
         cl::desc("Print a stage: model, gradient, partition, kernels, "
                  "schedule, code; or llvm, asm"),
         cl::value_desc("STAGE"), cl::cat(category));
static cl::opt<std::string>
    from("from", cl::desc("The input is the text of this stage"),
         cl::value_desc("STAGE"), cl::cat(category));
static cl::list<std::string>
    include("include", cl::desc("A folder where mg.include looks"),
            cl::value_desc("DIR"), cl::cat(category));
static cl::opt<bool>
    params("params", cl::desc("Print variables, shapes, counts and FLOPs"),
           cl::cat(category));
static cl::opt<bool>
    explainComm("explain-comm",
                cl::desc("Print each collective: bytes, cause, model line"),
                cl::cat(category));
static cl::opt<bool> printLibrary("print-library",
                                  cl::desc("Print the built-in optimizers"),
                                  cl::cat(category));
static cl::opt<bool> checkArena(
    "check-arena",
    cl::desc(
        "Red zones between buffers and NaN in dead memory, to find faults"),
    cl::cat(category));
static cl::list<std::string> plugins("load-pass-plugin",
                                     cl::desc("A shared library of passes"),
                                     cl::value_desc("SO"), cl::cat(category));
static cl::list<std::string> insertPasses(
    "insert-passes",
    cl::desc("Run a pass pipeline behind a stage, e.g. partition:my-pass"),
    cl::value_desc("STAGE:PIPELINE"), cl::cat(category));

static int usage(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "; see mgc --help\n";
  return 2;
}

/// Empty if all is well, else what is wrong with the arguments.
static std::string checkArguments(bool stats) {
  auto known = [](llvm::StringRef stage) {
    return stage.empty() || parseStage(stage).has_value();
  };
  if (input.empty())
    return "no model file was named";
  if (!known(emit) && emit != "llvm" && emit != "asm")
    return "there is no stage '" + emit + "' to emit";
  if (!known(from))
    return "there is no stage '" + from + "' to start from";
  if (!from.empty() && !emit.empty() && parseStage(emit) &&
      *parseStage(emit) < *parseStage(from))
    return "stage '" + emit + "' comes before '" + from + "'";
  for (const std::string &name : target)
    if (name != "cpu")
      return "there is no target '" + name + "'; there is cpu";
  for (llvm::StringRef text : insertPasses)
    if (!text.contains(':') || !parseStage(text.split(':').first))
      return "--insert-passes=" + text.str() + " is not STAGE:PIPELINE";
  if (output.empty() && emit.empty() && !params && !stats && !explainComm)
    return "nothing to do: name a bundle with -o, or a stage with --emit";
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // LLVM registers a --stats of its own, for its pass counters, on the first
  // parse; ours takes its place.
  cl::ParseCommandLineOptions(1, argv);
  cl::getRegisteredOptions()["stats"]->removeArgument();
  cl::opt<bool> stats(
      "stats", cl::desc("Print launches, collectives and memory of each entry"),
      cl::cat(category));
  cl::HideUnrelatedOptions(category);
  mlir::registerDefaultTimingManagerCLOptions();
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "mgc: compiles a model of the mg dialect into a bundle for mgrun\n",
          &llvm::errs()))
    return 2;
  if (printLibrary) {
    llvm::outs() << builtinLibrary();
    return 0;
  }
  if (std::string wrong = checkArguments(stats); !wrong.empty())
    return usage(wrong);
  registerMgPasses();
  for (const std::string &path : plugins) {
    llvm::Expected<mlir::PassPlugin> plugin = mlir::PassPlugin::load(path);
    if (!plugin)
      return usage(llvm::toString(plugin.takeError()));
    plugin->registerPassRegistryCallbacks();
  }
  CompilerOptions options;
  options.input = input;
  options.output = output.empty() && !emit.empty() ? "-" : output.getValue();
  options.emit = emit;
  options.from = from;
  options.include = {include.begin(), include.end()};
  options.insertedPasses = {insertPasses.begin(), insertPasses.end()};
  options.parameters = params;
  options.stats = stats;
  options.explainCollectives = explainComm;
  options.stages.checkArena = checkArena;
  if (!batchSize.empty())
    options.stages.units.assign(batchSize.begin(), batchSize.end());
  if (!cpu.empty())
    options.stages.cpus.assign(cpu.begin(), cpu.end());
  return failed(compile(options)) ? 1 : 0;
}
