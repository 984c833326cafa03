// The draws behind Shuffle.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Shuffle.h"
#include "runtime/train/Philox.h"

#include <algorithm>
#include <numeric>

namespace mg {

uint64_t boundedDraw(uint64_t position, uint64_t bound, uint64_t seed,
                     uint32_t epoch) {
  const uint64_t biased = (0 - bound) % bound; // 2^64 mod bound
  for (uint32_t attempt = 0;; ++attempt) {
    // A second attempt has probability bound / 2^64; it takes the block's other
    // half, then further blocks.
    const uint32_t high =
        static_cast<uint32_t>(position >> 32) + ((attempt / 2) << 16);
    const PhiloxCounter block = philox4x32(
        {static_cast<uint32_t>(position), high, epoch, fnv1a32("shuffle")},
        philoxKey(seed));
    const size_t half = 2 * (attempt % 2);
    const uint64_t draw = block[half] | uint64_t{block[half + 1]} << 32;
    const unsigned __int128 product =
        static_cast<unsigned __int128>(draw) * bound;
    if (static_cast<uint64_t>(product) >= biased)
      return static_cast<uint64_t>(product >> 64);
  }
}

static void shuffleRange(std::vector<int64_t> &order, int64_t first,
                         int64_t last, uint64_t seed, uint32_t epoch) {
  for (int64_t position = last - 1; position > first; --position) {
    const uint64_t bound = static_cast<uint64_t>(position - first + 1);
    const uint64_t other =
        static_cast<uint64_t>(first) +
        boundedDraw(static_cast<uint64_t>(position), bound, seed, epoch);
    std::swap(order[static_cast<size_t>(position)], order[other]);
  }
}

void shuffleRows(const Shuffle &shuffle, int64_t rows, uint64_t seed,
                 int64_t epoch, std::vector<int64_t> &order) {
  order.resize(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (shuffle.kind == Shuffle::Kind::None)
    return;
  const int64_t window =
      shuffle.kind == Shuffle::Kind::Full ? rows : shuffle.window;
  for (int64_t first = 0; first < rows; first += window)
    shuffleRange(order, first, std::min(rows, first + window), seed,
                 static_cast<uint32_t>(epoch));
}

} // namespace mg
