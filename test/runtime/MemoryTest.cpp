// Too little memory is an error that says what is planned, what there is, and
// which arrays are largest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Memory.h"
#include "runtime/device/cpu/HostMemory.h"
#include "test/runtime/ToyBundle.h"

#include <gtest/gtest.h>

namespace mg::test {
namespace {

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << "no '" << part << "' in: " << text;
}

TEST(Memory, ABundleThatDoesNotFitNamesItsLargestArrays) {
  uint32_t rows =
      1u << 30; // 4 GiB an input, 8 GiB a temporary: 28 GiB and some a device
  TemporaryFile file(toyBundle({rows}).file());
  std::shared_ptr<Bundle> bundle = std::move(*Bundle::open(file.path()));
  std::vector<int> ids(4000);
  for (int i = 0; i < 4000; ++i)
    ids[static_cast<size_t>(i)] = i;
  auto session = Session::open(bundle, {ids, 1});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::OutOfMemory);
  const std::string &text = session.error().message;
  expectPart(text,
             "4000 devices of 12288.0 MiB state and 16384.0 MiB arena each");
  expectPart(text, "temporary of 'toy_rows' (8192.0 MiB), temporary of "
                   "'toy_rows' (8192.0 MiB), ");
  expectPart(text, "(4096.0 MiB); use fewer devices");
}

TEST(Memory, ExactlyWhatThereIsFits) {
  TemporaryFile file(toyBundle({2}).file());
  auto bundle = std::move(*Bundle::open(file.path()));
  uint64_t needed =
      3 * (bundle->tables().state_bytes() + bundle->tables().arena_bytes());
  EXPECT_TRUE(checkMemory(bundle->tables(), 3, needed));
  EXPECT_FALSE(checkMemory(bundle->tables(), 3, needed - 1));
}

TEST(Memory, RegionsAreZeroPageAlignedAndMayBeEmpty) {
  HostMemory memory(100'000), none(0), tooMuch(uint64_t(1) << 62);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 4096, 0u);
  for (uint64_t i = 0; i < memory.bytes(); ++i)
    ASSERT_EQ(memory.data()[i], std::byte{0});
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(tooMuch.data(), nullptr);
  EXPECT_GT(availableMemory(), 0u);
}

} // namespace
} // namespace mg::test
