// All-reduce in shared memory: a block is combined over the devices, then
// copied to all. Blocks are small enough to stay in the first-level cache
// between the two.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/collective/AllReduce.h"

#include "runtime/schema/DType.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace mg {
namespace {

constexpr uint64_t blockBytes = 4096;
constexpr uint64_t lineBytes =
    64; // slices are cut at cache lines: no line is written by two callers

// Integers are added and multiplied as unsigned: overflow wraps instead of
// being undefined.
template <typename T> struct Arithmetic {
  using Type = T;
};
template <> struct Arithmetic<int32_t> {
  using Type = uint32_t;
};
template <> struct Arithmetic<int64_t> {
  using Type = uint64_t;
};

template <typename T, schema::Reduction reduction> T combine(T a, T b) {
  using A = typename Arithmetic<T>::Type;
  if constexpr (reduction == schema::Reduction::Sum)
    return static_cast<T>(static_cast<A>(a) + static_cast<A>(b));
  if constexpr (reduction == schema::Reduction::Prod)
    return static_cast<T>(static_cast<A>(a) * static_cast<A>(b));
  if constexpr (reduction == schema::Reduction::Max)
    return a > b || a != a ? a : b;
  if constexpr (reduction == schema::Reduction::Min)
    return a < b || a != a ? a : b;
}

template <typename T, schema::Reduction reduction>
void combineInto(T *to, const T *left, const T *right, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    to[i] = combine<T, reduction>(left[i], right[i]);
}

/// A vectorizer that has to ask whether `to` and `right` overlap would find
/// that they do and go one by one.
template <typename T, schema::Reduction reduction>
void combineInto(T *right, const T *left, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    right[i] = combine<T, reduction>(left[i], right[i]);
}

/// One block of all arrays into `to`: the left subtree is the largest power of
/// two of arrays that leaves some for the right one.
template <typename T, schema::Reduction reduction>
void reduceBlock(T *to, std::span<std::byte *const> arrays, uint64_t block,
                 uint64_t bytes) {
  auto at = [&](size_t i) {
    return reinterpret_cast<const T *>(arrays[i] + block);
  };
  if (arrays.size() == 1) {
    std::memcpy(to, at(0), bytes);
    return;
  }
  if (arrays.size() == 2)
    return combineInto<T, reduction>(to, at(0), at(1), bytes / sizeof(T));
  size_t half = std::bit_floor(arrays.size() - 1);
  alignas(lineBytes) T left[blockBytes / sizeof(T)];
  reduceBlock<T, reduction>(left, arrays.first(half), block, bytes);
  reduceBlock<T, reduction>(to, arrays.subspan(half), block, bytes);
  combineInto<T, reduction>(to, left, bytes / sizeof(T));
}

template <typename T, schema::Reduction reduction>
void reduceRange(std::span<std::byte *const> arrays, uint64_t begin,
                 uint64_t end) {
  alignas(lineBytes) T result[blockBytes / sizeof(T)];
  for (uint64_t block = begin; block < end; block += blockBytes) {
    uint64_t bytes = std::min(blockBytes, end - block);
    reduceBlock<T, reduction>(result, arrays, block, bytes);
    for (std::byte *array : arrays)
      std::memcpy(array + block, result, bytes);
  }
}

template <typename T>
void reduceRange(schema::Reduction reduction,
                 std::span<std::byte *const> arrays, uint64_t begin,
                 uint64_t end) {
  switch (reduction) {
  case schema::Reduction::Sum:
    return reduceRange<T, schema::Reduction::Sum>(arrays, begin, end);
  case schema::Reduction::Max:
    return reduceRange<T, schema::Reduction::Max>(arrays, begin, end);
  case schema::Reduction::Min:
    return reduceRange<T, schema::Reduction::Min>(arrays, begin, end);
  case schema::Reduction::Prod:
    return reduceRange<T, schema::Reduction::Prod>(arrays, begin, end);
  }
}

/// Slice `part` of `parts` of `bytes` bytes, cut at cache lines.
struct Slice {
  uint64_t begin, end;
  Slice(uint64_t bytes, int part, int parts)
      : begin(cut(bytes, part, parts)), end(cut(bytes, part + 1, parts)) {}

private:
  static uint64_t cut(uint64_t bytes, int at, int parts) {
    uint64_t lines = (bytes + lineBytes - 1) / lineBytes;
    return std::min(bytes, lines * static_cast<uint64_t>(at) /
                               static_cast<uint64_t>(parts) * lineBytes);
  }
};

template <typename T>
void addRange(std::byte *to, const std::byte *left, const std::byte *right,
              Slice slice) {
  auto at = [&](const std::byte *array) {
    return reinterpret_cast<const T *>(array + slice.begin);
  };
  T *sum = reinterpret_cast<T *>(to + slice.begin);
  uint64_t count = (slice.end - slice.begin) / sizeof(T);
  if (to == right)
    return combineInto<T, schema::Reduction::Sum>(sum, at(left), count);
  combineInto<T, schema::Reduction::Sum>(sum, at(left), at(right), count);
}

} // namespace

bool canReduce(schema::DType dtype) {
  return dtype == schema::DType::F32 || dtype == schema::DType::F64 ||
         dtype == schema::DType::I32 || dtype == schema::DType::I64;
}

void allReduceSlice(schema::Reduction reduction, schema::DType dtype,
                    std::span<std::byte *const> arrays, uint64_t bytes,
                    int part, int parts) {
  auto [begin, end] = Slice(bytes, part, parts);
  if (begin == end)
    return;
  switch (dtype) {
  case schema::DType::F32:
    return reduceRange<float>(reduction, arrays, begin, end);
  case schema::DType::F64:
    return reduceRange<double>(reduction, arrays, begin, end);
  case schema::DType::I32:
    return reduceRange<int32_t>(reduction, arrays, begin, end);
  case schema::DType::I64:
    return reduceRange<int64_t>(reduction, arrays, begin, end);
  default:
    return; // refused when the bundle was verified
  }
}

void addSlice(schema::DType dtype, std::byte *to, const std::byte *left,
              const std::byte *right, uint64_t bytes, int part, int parts) {
  Slice slice(bytes, part, parts);
  if (dtype == schema::DType::F32)
    addRange<float>(to, left, right, slice);
  else
    addRange<double>(to, left, right, slice);
}

void copySlice(std::byte *to, const std::byte *from, uint64_t bytes, int part,
               int parts) {
  auto [begin, end] = Slice(bytes, part, parts);
  std::memcpy(to + begin, from + begin, end - begin);
}

void fillNegativeZero(schema::DType dtype, std::byte *to, uint64_t bytes) {
  if (dtype == schema::DType::F32)
    std::fill_n(reinterpret_cast<float *>(to), bytes / sizeof(float), -0.0f);
  else
    std::fill_n(reinterpret_cast<double *>(to), bytes / sizeof(double), -0.0);
}

} // namespace mg
