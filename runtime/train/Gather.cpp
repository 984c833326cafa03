// Row copies; the rows past a unit's valid ones are copies of its last, so that
// padding computes nothing odd.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Gather.h"

#include <cstring>

namespace mg {

Unit Gather::fill(int device, int k, std::span<std::byte *const> destination) {
  const Unit unit = dealing.unit(device, k, windowRows);
  for (size_t input = 0; input < view.set->inputCount(); ++input) {
    const InputArray &array = view.set->array(input);
    const size_t rowBytes = static_cast<size_t>(array.rowBytes());
    std::byte *to = destination[input];
    for (int64_t row = 0; row < dealing.unitRows; ++row, to += rowBytes) {
      const int64_t position = start + unit.row0 + std::min(row, unit.rows - 1);
      std::memcpy(to,
                  array.data.data() +
                      static_cast<size_t>(fileRow(position)) * rowBytes,
                  rowBytes);
    }
  }
  return unit;
}

} // namespace mg
