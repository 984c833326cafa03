// Which device computes which rows of a step (DESIGN §3, units). A window of G
// rows is cut into units of B rows in row order; device d of N gets the units
// [d·U/N, (d+1)·U/N), U = ⌈G/B⌉. A short last window is cut at the same
// positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"

#include <bit>

namespace mg {

struct Dealing {
  int devices = 1;
  int64_t unitRows = 1;   // B
  int64_t windowRows = 1; // G

  /// Units of a full window.
  int64_t units() const { return (windowRows + unitRows - 1) / unitRows; }
  /// Units a device has at most: the passes that a step takes.
  int64_t passes() const { return (units() + devices - 1) / devices; }

  /// Units of device `device` in a window with `rows` rows, 1 … windowRows.
  int unitCount(int device, int64_t rows) const;
  /// The k-th of them.
  Unit unit(int device, int k, int64_t rows) const;

  /// Whether every device's units are a subtree of the binary tree over all
  /// units, so that their sums can be added in it (RATIONALE R7).
  bool dealsSubtrees() const {
    return devices == 1 ||
           (units() % devices == 0 &&
            std::has_single_bit(static_cast<uint64_t>(units() / devices)));
  }

  /// Windows that `rows` rows take; the last may be short.
  int64_t windowsOf(int64_t rows) const {
    return (rows + windowRows - 1) / windowRows;
  }

private:
  int64_t firstUnit(int device) const { return device * units() / devices; }
};

/// The unit size, among those of a bundle, that needs the fewest passes; the
/// smallest of those. `sizes` is not empty.
uint32_t chooseUnitRows(std::span<const uint32_t> sizes, int64_t windowRows,
                        int devices);

} // namespace mg
