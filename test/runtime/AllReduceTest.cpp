// All-reduce adds in device order, bit for bit, into how many slices it is cut
// makes no difference.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/collective/AllReduce.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace mg {
namespace {

using schema::DType;
using schema::Reduction;

template <typename T> using Arrays = std::vector<std::vector<T>>;

template <typename T>
void reduce(Arrays<T> &arrays, Reduction reduction, DType dtype, int parts) {
  std::vector<std::byte *> pointers;
  for (auto &array : arrays)
    pointers.push_back(reinterpret_cast<std::byte *>(array.data()));
  for (int part = parts; part-- > 0;)
    allReduceSlice(reduction, dtype, pointers, arrays[0].size() * sizeof(T),
                   part, parts);
}

/// Values of very different size: any other order of addition gives other bits.
Arrays<float> unevenFloats(size_t devices, size_t count) {
  Arrays<float> arrays(devices, std::vector<float>(count));
  for (size_t device = 0; device < devices; ++device)
    for (size_t i = 0; i < count; ++i)
      arrays[device][i] = std::ldexp(1.0f + static_cast<float>(i % 7) / 7,
                                     static_cast<int>((device * 11 + i) % 31));
  return arrays;
}

TEST(AllReduce, AddsInOneTreeHoweverItIsCut) {
  for (size_t count : {1u, 15u, 16u, 17u, 1000u, 5000u}) {
    Arrays<float> input = unevenFloats(7, count);
    std::vector<float> expected(count);
    for (size_t i = 0; i < count; ++i) {
      auto at = [&](size_t device) { return input[device][i]; };
      expected[i] =
          ((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + at(6));
    }
    for (int parts : {1, 2, 3, 8, 64}) {
      Arrays<float> arrays = input;
      reduce(arrays, Reduction::Sum, DType::F32, parts);
      EXPECT_EQ(arrays, Arrays<float>(7, expected))
          << count << " elements in " << parts;
    }
  }
}

TEST(AllReduce, AddsSlicesInPlaceAndElsewhere) {
  std::vector<double> left(1000, 1.5), right(1000, 2.0), to(1000);
  auto bytes = [](std::vector<double> &v) {
    return reinterpret_cast<std::byte *>(v.data());
  };
  for (int part = 0; part < 3; ++part) {
    addSlice(DType::F64, bytes(to), bytes(left), bytes(right), 8000, part, 3);
    addSlice(DType::F64, bytes(right), bytes(left), bytes(right), 8000, part,
             3);
  }
  EXPECT_EQ(to, std::vector<double>(1000, 3.5));
  EXPECT_EQ(right, to);
}

TEST(AllReduce, NegativeZeroChangesNothingItIsAddedTo) {
  float sums[2];
  fillNegativeZero(DType::F32, reinterpret_cast<std::byte *>(sums), 8);
  EXPECT_TRUE(std::signbit(sums[0]) && std::signbit(sums[1]));
  EXPECT_TRUE(std::signbit(-0.0f + sums[0]));
  EXPECT_FALSE(std::signbit(0.0f + sums[0]));
}

TEST(AllReduce, KnowsEveryReductionAndDtype) {
  for (auto [reduction, expected] : {std::pair(Reduction::Sum, 4),
                                     {Reduction::Max, 5},
                                     {Reduction::Min, -3},
                                     {Reduction::Prod, -30}}) {
    Arrays<double> f64 = {{2}, {5}, {-3}};
    Arrays<float> f32 = {{2}, {5}, {-3}};
    Arrays<int32_t> i32 = {{2}, {5}, {-3}};
    Arrays<int64_t> i64 = {{2}, {5}, {-3}};
    reduce(f64, reduction, DType::F64, 1);
    reduce(f32, reduction, DType::F32, 1);
    reduce(i32, reduction, DType::I32, 1);
    reduce(i64, reduction, DType::I64, 1);
    for (size_t device = 0; device < 3; ++device) {
      EXPECT_EQ(f64[device][0], expected);
      EXPECT_EQ(f32[device][0], static_cast<float>(expected));
      EXPECT_EQ(i32[device][0], expected);
      EXPECT_EQ(i64[device][0], expected);
    }
  }
}

TEST(AllReduce, ANanWinsMaxAndMinOnWhicheverDevice) {
  for (Reduction reduction : {Reduction::Max, Reduction::Min})
    for (size_t device = 0; device < 3; ++device) {
      Arrays<float> arrays = {{1}, {2}, {3}};
      arrays[device][0] = std::numeric_limits<float>::quiet_NaN();
      reduce(arrays, reduction, DType::F32, 2);
      EXPECT_TRUE(std::isnan(arrays[0][0]) && std::isnan(arrays[2][0]));
    }
}

TEST(AllReduce, IntegerSumsWrap) {
  Arrays<int32_t> arrays = {{std::numeric_limits<int32_t>::max()}, {1}};
  reduce(arrays, Reduction::Sum, DType::I32, 1);
  EXPECT_EQ(arrays[1][0], std::numeric_limits<int32_t>::min());
}

} // namespace
} // namespace mg
