// The 64 bytes at the start of a bundle file, field by field as in FORMAT.md,
// for its writer and its reader.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace mg::schema {

constexpr uint8_t headerMagic[8] = {0x89, 'M',  'G',  'B',
                                    '\r', '\n', 0x1a, '\n'};
constexpr uint32_t majorVersion = 3, minorVersion = 0;
constexpr uint64_t blobAlignment = 4096;
constexpr uint64_t arrayAlignment = 64;

struct Header {
  uint8_t magic[8];
  uint32_t major, minor;
  uint64_t fileBytes;
  uint64_t tableBytes;
  uint32_t tableCrc;
  uint8_t reserved[24];
  uint32_t headerCrc; // of the bytes before it
};
static_assert(sizeof(Header) == 64 && offsetof(Header, tableCrc) == 32 &&
              offsetof(Header, headerCrc) == 60);

} // namespace mg::schema
