// Philox4x32-10: J. K. Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011 (Random123). The runtime uses it for the shuffle and bench
// data only; dropout and initializers are generated code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mg {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

constexpr PhiloxKey philoxKey(uint64_t seed) {
  return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
}

/// FNV-1a, 32 bits: the op key of a name.
constexpr uint32_t fnv1a32(std::string_view text) {
  uint32_t hash = 0x811c9dc5;
  for (char c : text)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193;
  return hash;
}

} // namespace mg
