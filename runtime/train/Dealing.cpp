// The arithmetic of Dealing.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Dealing.h"

#include <algorithm>

namespace mg {

int Dealing::unitCount(int device, int64_t rows) const {
  const int64_t filled = (rows + unitRows - 1) / unitRows;
  const int64_t first = firstUnit(device);
  const int64_t last = std::min(firstUnit(device + 1), filled);
  return static_cast<int>(std::max<int64_t>(0, last - first));
}

Unit Dealing::unit(int device, int k, int64_t rows) const {
  const int64_t row0 = (firstUnit(device) + k) * unitRows;
  return {row0, std::min(unitRows, rows - row0)};
}

uint32_t chooseUnitRows(std::span<const uint32_t> sizes, int64_t windowRows,
                        int devices) {
  uint32_t best = sizes[0];
  for (uint32_t size : sizes) {
    const int64_t passes = Dealing{devices, size, windowRows}.passes();
    const int64_t bestPasses = Dealing{devices, best, windowRows}.passes();
    if (passes < bestPasses || (passes == bestPasses && size < best))
      best = size;
  }
  return best;
}

} // namespace mg
