// The best target that this CPU has is chosen; what is missing is named.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/CpuFeatures.h"
#include "test/runtime/BundleBuilder.h"

#include <gtest/gtest.h>

namespace mg::test {
namespace {

struct Choice {
  schema::BundleT tables;
  flatbuffers::FlatBufferBuilder buffer;

  /// Each target's cpu is its index.
  Expected<std::string>
  choose(const std::vector<std::vector<std::string>> &targets,
         const char *kind = "cpu") {
    BundleBuilder builder({1});
    for (const auto &features : targets) {
      builder.target(fmt::format("{}", builder.tables.targets.size()), features,
                     {});
      builder.tables.targets.back()->kind = kind;
    }
    buffer.Finish(schema::Bundle::Pack(buffer, &builder.tables));
    auto target = chooseCpuTarget(
        *flatbuffers::GetRoot<schema::Bundle>(buffer.GetBufferPointer()));
    if (!target)
      return tl::unexpected(target.error());
    return (*target)->cpu()->str();
  }
};

TEST(CpuFeatures, TheTargetThatFitsAndUsesMostIsChosen) {
  EXPECT_EQ(*Choice().choose({{"+sse2", "+cmov"}, {"+sse2"}}), "0");
  EXPECT_EQ(*Choice().choose({{}, {"+sse2"}, {"+nonsense"}}), "1");
  EXPECT_EQ(*Choice().choose({{"+sse2", "sse2", "+cmov", "+fxsr"}}), "0");
}

TEST(CpuFeatures, FeaturesThatTheCodeDoesWithoutDoNotCount) {
  EXPECT_EQ(*Choice().choose({{"-nonsense"}}), "0");
}

TEST(CpuFeatures, MissingFeaturesAreNamed) {
  auto result = Choice().choose(
      {{"+nonsense", "+sse2"}, {"+xop", "+fma4", "+amx-bf16", "+hreset"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Unsupported);
  EXPECT_NE(result.error().message.find("target '0' needs nonsense;"),
            std::string::npos)
      << result.error().message;
}

TEST(CpuFeatures, ABundleForOtherDevicesIsRefused) {
  auto result = Choice().choose({{}}, "cuda");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Unsupported);
}

} // namespace
} // namespace mg::test
