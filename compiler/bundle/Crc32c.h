// CRC32C (Castagnoli), the checksum of a bundle's header, tables and blobs: RFC
// 3720, appendix B.4.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_BUNDLE_CRC32C_H
#define MG_COMPILER_BUNDLE_CRC32C_H

#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>

namespace mlir::mg {

/// "123456789" gives 0xE3069283.
inline uint32_t crc32c(llvm::ArrayRef<char> bytes) {
  static constexpr std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit)
        crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0u);
      entries[i] = crc;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

} // namespace mlir::mg

#endif // MG_COMPILER_BUNDLE_CRC32C_H
