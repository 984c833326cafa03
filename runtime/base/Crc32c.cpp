// CRC32C by the CPU's instruction where there is one, else by a table of bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Crc32c.h"

#include <array>
#include <cstring>
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace mg {
namespace {

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> table = makeTable();

uint32_t updateByTable(uint32_t crc, const std::byte *data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    crc = (crc >> 8) ^ table[(crc ^ std::to_integer<uint32_t>(data[i])) & 0xff];
  return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t
updateByInstruction(uint32_t crc, const std::byte *data, size_t bytes) {
  uint64_t wide = crc;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  return updateByTable(static_cast<uint32_t>(wide), data, bytes);
}
#endif

} // namespace

uint32_t crc32c(std::span<const std::byte> data, uint32_t crc) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2"))
    return ~updateByInstruction(~crc, data.data(), data.size());
#endif
  return ~updateByTable(~crc, data.data(), data.size());
}

} // namespace mg
