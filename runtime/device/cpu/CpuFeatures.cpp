// LLVM's feature names, tested by the compiler's built-in: it takes string
// literals only, hence the table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/CpuFeatures.h"

#include <algorithm>
#include <string_view>

namespace mg {
namespace {

// Names that stand for nothing a kernel could trip over: part of every x86-64,
// for kernels of an operating system only, or advice to the optimizer.
constexpr std::string_view alwaysThere[] = {
    "64bit", "x87",     "fxsr",  "cx8",     "sse",
    "sse2",  "invpcid", "rdpru", "evex512", "prefer-256-bit"};

#ifdef __x86_64__
// clang-format off
#define MG_FEATURES(X) \
  X("cmov") X("mmx") X("sse3") X("ssse3") X("sse4.1") X("sse4.2") \
  X("sse4a") X("popcnt") X("avx") X("avx2") X("fma") X("fma4") \
  X("xop") X("f16c") X("bmi") X("bmi2") X("tbm") X("lwp") \
  X("lzcnt") X("movbe") X("aes") X("pclmul") X("avx512f") X("avx512vl") \
  X("avx512bw") X("avx512dq") X("avx512cd") X("avx512vbmi") X("avx512vbmi2") X("avx512vnni") \
  X("avx512bitalg") X("avx512vpopcntdq") X("avx512ifma") X("avx512bf16") X("avx512fp16") X("avx512vp2intersect") \
  X("vaes") X("vpclmulqdq") X("gfni") X("avxvnni") X("avxifma") X("avxvnniint8") \
  X("avx10.1") X("amx-tile") X("amx-int8") X("amx-bf16") X("adx") X("rdrnd") \
  X("rdseed") X("sha") X("sha512") X("sm4") X("fsgsbase") X("cx16") \
  X("sahf") X("xsave") X("xsavec") X("xsaves") X("xsaveopt") X("clflushopt") \
  X("clwb") X("clzero") X("mwaitx") X("rdpid") X("wbnoinvd") X("pku") \
  X("prfchw") X("rtm") X("shstk") X("ptwrite") X("serialize") X("movdiri") \
  X("movdir64b") X("cldemote") X("hreset") X("uintr") X("waitpkg") X("x86-64") \
  X("x86-64-v2") X("x86-64-v3") X("x86-64-v4")
// clang-format on

bool cpuHas(std::string_view feature) {
  if (feature == "crc32") // part of SSE4.2 that LLVM names apart
    feature = "sse4.2";
#define MG_TEST(NAME)                                                          \
  if (feature == NAME)                                                         \
    return __builtin_cpu_supports(NAME);
  MG_FEATURES(MG_TEST)
#undef MG_TEST
  return false;
}
#else
bool cpuHas(std::string_view) { return false; }
#endif

/// Adds `feature` to `missing` unless it is there or is one that the code does
/// without ("-avx512f").
void require(std::string_view feature, std::string &missing) {
  if (feature.empty() || feature.front() == '-')
    return;
  if (feature.front() == '+')
    feature.remove_prefix(1);
  if (std::find(std::begin(alwaysThere), std::end(alwaysThere), feature) !=
          std::end(alwaysThere) ||
      cpuHas(feature))
    return;
  missing += missing.empty() ? "" : " ";
  missing += feature;
}

} // namespace

std::string missingFeatures(const schema::Target &target) {
  std::string missing;
  if (target.cpu()->string_view().starts_with(
          "x86-64")) // a level is a set of features; other names are only for
                     // scheduling
    require(target.cpu()->string_view(), missing);
  if (const auto *features = target.features())
    for (const flatbuffers::String *feature : *features)
      require(feature->string_view(), missing);
  return missing;
}

Expected<const schema::Target *> chooseCpuTarget(const schema::Bundle &tables) {
  const auto featureCount = [](const schema::Target &target) {
    return target.features() ? target.features()->size() : 0;
  };
  const schema::Target *best = nullptr;
  std::string reasons;
  for (const schema::Target *target : *tables.targets()) {
    if (target->kind()->string_view() != "cpu")
      continue;
    std::string missing = missingFeatures(*target);
    if (missing.empty() &&
        (!best || featureCount(*target) > featureCount(*best)))
      best = target;
    if (!missing.empty())
      reasons += fmt::format("; target '{}' needs {}",
                             target->cpu()->string_view(), missing);
  }
  if (best)
    return best;
  if (reasons.empty())
    return failure(Code::Unsupported, "no code for CPUs in the bundle; compile "
                                      "the model for one (mgc --cpu=...)");
  return failure(Code::Unsupported,
                 "no code in the bundle fits this CPU{}; compile the model "
                 "again with --cpu=x86-64-v3 or lower",
                 reasons);
}

} // namespace mg
