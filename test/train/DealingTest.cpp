// Which device computes which rows, and in what order an epoch visits them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Dealing.h"
#include "runtime/train/Philox.h"
#include "runtime/train/Shuffle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace mg {
namespace {

constexpr int64_t kMnistRows = 55000;

struct MnistCase {
  int devices;
  int64_t steps, lastRows;
  int emptyDevices; // in the last step
};
constexpr MnistCase kMnist[] = {
    {1, 860, 24, 0}, {2, 430, 88, 0}, {4, 215, 216, 0}, {8, 108, 216, 4}};

TEST(Dealing, MnistStepsAnEpoch) {
  for (const MnistCase &c : kMnist) {
    const Dealing dealing{c.devices, 64, 64 * c.devices};
    EXPECT_EQ(dealing.windowsOf(kMnistRows), c.steps) << c.devices;
    const int64_t last = kMnistRows - (c.steps - 1) * dealing.windowRows;
    EXPECT_EQ(last, c.lastRows) << c.devices;
    int empty = 0;
    for (int device = 0; device < c.devices; ++device)
      empty += dealing.unitCount(device, last) == 0;
    EXPECT_EQ(empty, c.emptyDevices) << c.devices;
  }
}

/// Every row of a window is in exactly one unit, in order, whatever the counts.
TEST(Dealing, UnitsCoverEachRowOnceInOrder) {
  for (int devices : {1, 2, 3, 4, 7, 64})
    for (int64_t unit : {1, 2, 5, 64})
      for (int64_t window : {1, 4, 63, 64, 130})
        for (int64_t rows = 1; rows <= window; ++rows) {
          const Dealing dealing{devices, unit, window};
          int64_t next = 0;
          for (int device = 0; device < devices; ++device)
            for (int k = 0; k < dealing.unitCount(device, rows); ++k) {
              const Unit dealt = dealing.unit(device, k, rows);
              ASSERT_EQ(dealt.row0, next);
              ASSERT_GE(dealt.rows, 1);
              ASSERT_LE(dealt.rows, unit);
              next += dealt.rows;
            }
          ASSERT_EQ(next, rows) << devices << " devices, units of " << unit
                                << ", window " << window;
        }
}

TEST(Dealing, FullWindowsAreBalanced) {
  const Dealing dealing{3, 2, 16}; // 8 units
  EXPECT_EQ(dealing.unitCount(0, 16), 2);
  EXPECT_EQ(dealing.unitCount(1, 16), 3);
  EXPECT_EQ(dealing.unitCount(2, 16), 3);
  EXPECT_EQ(dealing.passes(), 3);
}

TEST(Dealing, ShortWindowsAreCutAtTheSamePositions) {
  const Dealing dealing{2, 2, 8};
  EXPECT_EQ(dealing.unitCount(0, 5), 2);
  EXPECT_EQ(dealing.unitCount(1, 5), 1);
  EXPECT_EQ(dealing.unit(1, 0, 5).row0, 4);
  EXPECT_EQ(dealing.unit(1, 0, 5).rows, 1);
}

struct UnitCase {
  int64_t window;
  int devices;
  uint32_t chosen;
};

TEST(Dealing, ChoosesFewestPassesThenSmallestUnit) {
  const uint32_t sizes[] = {16, 64, 256};
  const UnitCase cases[] = {{64, 1, 64},   {16, 1, 16},   {128, 2, 64},
                            {256, 1, 256}, {512, 2, 256}, {1, 4, 16},
                            {1024, 1, 256}};
  for (const UnitCase &c : cases)
    EXPECT_EQ(chooseUnitRows(sizes, c.window, c.devices), c.chosen)
        << c.window << " rows on " << c.devices;
}

TEST(Philox, KnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, OpKeyIsFnv1a) {
  EXPECT_EQ(fnv1a32(""), 0x811c9dc5u);
  EXPECT_EQ(fnv1a32("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1a32("foobar"), 0xbf9cf968u);
}

std::vector<int64_t> shuffled(Shuffle shuffle, int64_t rows, uint64_t seed,
                              int64_t epoch) {
  std::vector<int64_t> order;
  shuffleRows(shuffle, rows, seed, epoch, order);
  return order;
}

bool isPermutation(std::vector<int64_t> order) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i))
      return false;
  return true;
}

TEST(Shuffle, DependsOnSeedAndEpochAlone) {
  const Shuffle full;
  EXPECT_EQ(shuffled(full, 100, 7, 0), shuffled(full, 100, 7, 0));
  EXPECT_NE(shuffled(full, 100, 7, 0), shuffled(full, 100, 7, 1));
  EXPECT_NE(shuffled(full, 100, 7, 0), shuffled(full, 100, 8, 0));
  EXPECT_TRUE(isPermutation(shuffled(full, 100, 7, 0)));
}

/// The order is a promise: a saved run goes on with it, and another language's
/// test can compute it.
TEST(Shuffle, FirstDrawIsAsDocumented) {
  const PhiloxCounter block = philox4x32({7, 0, 3, fnv1a32("shuffle")}, {7, 0});
  const uint64_t draw = block[0] | uint64_t{block[1]} << 32;
  EXPECT_EQ(boundedDraw(7, 8, 7, 3), draw >> 61); // bound 8: the top three bits
}

TEST(Shuffle, NoneKeepsTheOrder) {
  const std::vector<int64_t> order =
      shuffled({Shuffle::Kind::None, 0}, 10, 7, 0);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Shuffle, WindowMovesRowsInsideTheirWindowOnly) {
  const std::vector<int64_t> order =
      shuffled({Shuffle::Kind::Window, 10}, 95, 7, 0);
  EXPECT_TRUE(isPermutation(order));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i] / 10, static_cast<int64_t>(i) / 10);
}

TEST(Shuffle, PlacesAreEquallyLikely) {
  constexpr int64_t kRows = 6, kEpochs = 6000;
  int count[kRows][kRows] = {};
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<int64_t> order = shuffled({}, kRows, 1, epoch);
    for (int64_t p = 0; p < kRows; ++p)
      ++count[p][order[static_cast<size_t>(p)]];
  }
  for (const auto &row : count) // expected 1000 each, standard deviation 29
    for (int found : row)
      EXPECT_NEAR(found, kEpochs / kRows, 150);
}

TEST(Shuffle, DrawsStayBelowTheBound) {
  for (uint64_t bound :
       {uint64_t{1}, uint64_t{3}, uint64_t{55000}, (uint64_t{1} << 63) + 1})
    for (uint64_t position = 0; position < 200; ++position)
      ASSERT_LT(boundedDraw(position, bound, 5, 0), bound);
}

} // namespace
} // namespace mg
