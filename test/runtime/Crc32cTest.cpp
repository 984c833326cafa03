// CRC32C against RFC 3720's values; pieces give what the whole gives.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Crc32c.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace mg {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc32c, GivesTheStandardsValues) {
  EXPECT_EQ(crc32c(bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62A8AB43u);
}

TEST(Crc32c, PiecesGiveWhatTheWholeGives) {
  std::string_view text = "pieces of any length, aligned or not";
  for (size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(
        crc32c(bytes(text.substr(cut)), crc32c(bytes(text.substr(0, cut)))),
        crc32c(bytes(text)));
}

} // namespace
} // namespace mg
