// Resolves a target specification with LLVM's subtarget tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/CpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <map>
#include <memory>

using namespace mlir;
using namespace mlir::mg;

static constexpr StringLiteral kTriple = "x86_64-unknown-linux-gnu";

static std::unique_ptr<llvm::MCSubtargetInfo>
createSubtarget(const CpuTarget &target) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target *x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  assert(x86 && "LLVM was built without the X86 target");
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      x86->createMCSubtargetInfo(triple, target.cpu, target.features));
}

static bool isKnownCpu(StringRef cpu) {
  return createSubtarget({"x86-64", ""})->isCPUStringValid(cpu);
}

static bool isKnownFeature(StringRef feature) {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget =
      createSubtarget({"x86-64", ""});
  return llvm::any_of(subtarget->getAllProcessorFeatures(),
                      [&](const auto &known) { return feature == known.Key; });
}

/// The host's features as LLVM detects them, sorted, so that equal machines
/// give equal text.
static std::string hostFeatures() {
  std::map<std::string, bool> sorted;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (isKnownFeature(feature.getKey()))
      sorted[feature.getKey().str()] = feature.getValue();
  std::string text;
  for (const auto &[name, enabled] : sorted)
    text += (text.empty() ? "" : ",") + std::string(enabled ? "+" : "-") + name;
  return text;
}

/// "+avx512f+avx512vl,-gfni" as {"+avx512f", "+avx512vl", "-gfni"}.
static SmallVector<std::string> splitFeatures(StringRef text) {
  SmallVector<std::string> features;
  for (StringRef part : llvm::split(text, ','))
    for (StringRef word : llvm::split(part, '+'))
      if (!word.empty())
        features.push_back((word.front() == '-' ? "" : "+") + word.str());
  return features;
}

FailureOr<CpuTarget>
mlir::mg::parseCpuTarget(StringRef spec,
                         function_ref<InFlightDiagnostic()> emitError) {
  StringRef cpu = spec.take_until([](char c) { return c == '+' || c == ','; });
  CpuTarget target{cpu.str(), ""};
  if (cpu == "host")
    target = {llvm::sys::getHostCPUName().str(), hostFeatures()};
  if (!isKnownCpu(target.cpu))
    return emitError() << "unknown CPU '" << cpu
                       << "': expected host, x86-64-v3, x86-64-v4 or another "
                          "name that LLVM knows",
           failure();
  for (const std::string &feature : splitFeatures(spec.substr(cpu.size()))) {
    StringRef name = StringRef(feature).drop_front();
    if (!isKnownFeature(name))
      return emitError() << "unknown CPU feature '" << name
                         << "': expected one that LLVM knows, as in "
                            "x86-64-v3+avx512f",
             failure();
    target.features += (target.features.empty() ? "" : ",") + feature;
  }
  if (!createSubtarget(target)->checkFeatures("+64bit"))
    return emitError() << "CPU '" << cpu << "' has no 64-bit mode", failure();
  return target;
}

CpuModel CpuModel::of(const CpuTarget &target) {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget = createSubtarget(target);
  CpuModel model;
  model.hasFma = subtarget->checkFeatures("+fma");
  if (subtarget->checkFeatures("+avx2"))
    model.vectorBytes = 32;
  if (subtarget->checkFeatures("+avx512f") &&
      subtarget->checkFeatures("+avx512vl")) {
    model.vectorBytes = 64;
    model.vectorRegisters = 32;
  }
  return model;
}

SmallVector<std::string> mlir::mg::requiredFeatures(const CpuTarget &target) {
  // Instruction sets that code generation may use; a machine that has these
  // runs the code.
  static constexpr StringLiteral kInstructionSets[] = {"avx",
                                                       "avx2",
                                                       "avx512bf16",
                                                       "avx512bw",
                                                       "avx512cd",
                                                       "avx512dq",
                                                       "avx512f",
                                                       "avx512fp16",
                                                       "avx512vbmi",
                                                       "avx512vl",
                                                       "avx512vnni",
                                                       "avxvnni",
                                                       "bmi",
                                                       "bmi2",
                                                       "f16c",
                                                       "fma",
                                                       "gfni",
                                                       "lzcnt",
                                                       "movbe",
                                                       "popcnt",
                                                       "sse3",
                                                       "sse4.1",
                                                       "sse4.2",
                                                       "ssse3",
                                                       "vaes",
                                                       "vpclmulqdq",
                                                       "avx512ifma",
                                                       "avx512bitalg",
                                                       "avx512vpopcntdq",
                                                       "avx512vbmi2"};
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget = createSubtarget(target);
  SmallVector<std::string> features;
  for (StringRef set : kInstructionSets)
    if (subtarget->checkFeatures(("+" + set).str()))
      features.push_back(("+" + set).str());
  llvm::sort(features);
  return features;
}
