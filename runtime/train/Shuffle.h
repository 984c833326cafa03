// The order in which an epoch visits the rows: a function of seed, epoch and
// row count alone, so it is the same on any device count and machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

namespace mg {

struct Shuffle {
  enum class Kind { None, Full, Window };
  Kind kind = Kind::Full;
  int64_t window = 0; // rows, for Kind::Window: rows move only inside
                      // consecutive windows of this many
};

/// Writes the order of `rows` rows into `order`: order[p] is the row at
/// position p. Fisher-Yates from the last position down; the draw for position
/// p is Philox with key = seed and counter = (p, 0, epoch,
/// FNV-1a32("shuffle")), reduced without bias. Kind::None leaves 0, 1, 2 …
void shuffleRows(const Shuffle &shuffle, int64_t rows, uint64_t seed,
                 int64_t epoch, std::vector<int64_t> &order);

/// A number in [0, bound), each equally likely: the high half of x · bound for
/// a 64-bit draw x, drawn again where the low half falls into the biased part
/// (D. Lemire, "Fast random integer generation in an interval", 2019).
uint64_t boundedDraw(uint64_t position, uint64_t bound, uint64_t seed,
                     uint32_t epoch);

} // namespace mg
