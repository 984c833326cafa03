# The checksum of bundles, for tests that read or change one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum, bit by bit over a table (RFC 3720, B.4)."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF
