// CRC32C (Castagnoli, RFC 3720 B.4): the checksum of bundles, TensorBoard
// records and checkpoints. "123456789" gives 0xE3069283.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mg {

/// The CRC32C of what `crc` is the CRC of, followed by `data`; start with 0.
uint32_t crc32c(std::span<const std::byte> data, uint32_t crc = 0);

} // namespace mg
