// Launches, copies and fills do what the schema says, whoever shares the work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <cstring>
#include <gtest/gtest.h>

namespace mg::test {
namespace {

/// A bundle whose Init runs what `build` adds; variable 0 is `bytes` bytes of
/// u8.
std::unique_ptr<Session> runInit(
    int64_t bytes, int devices, int threads,
    const std::function<void(BundleBuilder &, schema::EntryT &, schema::Range)>
        &build) {
  BundleBuilder builder({1});
  builder.tables.variables.push_back(std::make_unique<schema::VariableT>());
  builder.tables.variables[0]->array =
      builder.array("v", schema::DType::U8, {bytes});
  build(builder, builder.entry(schema::Role::Init, -1, 0),
        rangeOf(*builder.tables.variables[0]->array));
  builder.target("x86-64", {}, toyImage());
  TemporaryFile file(builder.file());
  SessionOptions options;
  for (int i = 0; i < devices; ++i)
    options.deviceIds.push_back(i);
  options.threads = threads;
  auto bundle = Bundle::open(file.path());
  EXPECT_TRUE(bundle) << bundle.error().message;
  auto session = Session::open(std::move(*bundle), options);
  EXPECT_TRUE(session) << session.error().message;
  EXPECT_TRUE((*session)->init(0));
  return std::move(*session);
}

std::span<std::byte> variable(Session &session, int device) {
  return session.state(device,
                       *session.bundle().tables().variables()->Get(0)->array());
}

TEST(Command, EveryBlockOfAGridRunsOnce) {
  for (int devices : {1, 2, 3})
    for (int threads : {1, 2, 4, 7}) {
      auto session = runInit(
          4 * 30, devices, threads, [](auto &builder, auto &entry, auto v) {
            builder.launch(entry, "toy_grid", schema::Grid(3, 2, 5), {v}, {41});
          });
      for (int device = 0; device < devices; ++device)
        for (size_t i = 0; i < 30; ++i) {
          int32_t count;
          std::memcpy(&count, variable(*session, device).data() + 4 * i, 4);
          EXPECT_EQ(count, 42)
              << "block " << i << ", " << threads << " threads";
        }
    }
}

TEST(Command, FillAndCopyCoverTheirRangeAndNoMore) {
  for (int64_t bytes : {1, 65, 64 << 10, (200 << 10) + 3})
    for (int threads : {1, 3}) {
      auto session = runInit(bytes + 1, 2, threads,
                             [&](auto &builder, auto &entry, auto v) {
                               auto size = static_cast<uint64_t>(bytes);
                               schema::Range from = builder.arena(size);
                               builder.fill(entry, from, 0x5a);
                               builder.copy(entry, from, part(v, 0, size));
                             });
      auto content = variable(*session, 1);
      for (size_t i = 0; i + 1 < content.size(); ++i)
        ASSERT_EQ(content[i], std::byte{0x5a}) << i << " of " << bytes;
      EXPECT_EQ(content.back(), std::byte{0});
    }
}

TEST(Command, ConstantsAreReadInPlace) {
  auto session = runInit(8, 2, 2, [](auto &builder, auto &entry, auto v) {
    builder.constants.assign(72, std::byte{9});
    builder.copy(entry, schema::Range(schema::Region::Constant, 64, 8), v);
  });
  EXPECT_EQ(variable(*session, 1)[7], std::byte{9});
}

TEST(Command, LaunchesSeeWhatTheOneBeforeWrote) {
  for (int threads : {1, 2, 4}) {
    auto session =
        runInit(4 * 6, 1, threads, [](auto &builder, auto &entry, auto v) {
          for (int i = 0; i < 200;
               ++i) // wide and narrow launches in turn: those of one block do
                    // without a meeting
            if (i % 3 == 0)
              builder.launch(entry, "toy_grid", schema::Grid(3, 2, 1), {v},
                             {0});
            else
              builder.launch(entry, "toy_block", schema::Grid(1, 1, 1), {v},
                             {0});
        });
    int32_t counts[2];
    std::memcpy(counts, variable(*session, 0).data(), sizeof counts);
    EXPECT_EQ(counts[0], 200);
    EXPECT_EQ(counts[1], 67);
  }
}

} // namespace
} // namespace mg::test
