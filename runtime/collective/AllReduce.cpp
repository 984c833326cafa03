// All-reduce in shared memory: a block of device 0 is combined with the others
// in device order, then copied to all. Blocks are small enough to stay in the
// first-level cache between the two.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/collective/AllReduce.h"

#include "runtime/schema/DType.h"

#include <algorithm>
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
void reduceRange(std::span<std::byte *const> arrays, uint64_t begin,
                 uint64_t end) {
  alignas(lineBytes) T sum[blockBytes / sizeof(T)];
  for (uint64_t block = begin; block < end; block += blockBytes) {
    uint64_t bytes = std::min(blockBytes, end - block);
    std::memcpy(sum, arrays[0] + block, bytes);
    for (std::byte *array : arrays.subspan(1)) {
      const T *other = reinterpret_cast<const T *>(array + block);
      for (uint64_t i = 0; i < bytes / sizeof(T); ++i)
        sum[i] = combine<T, reduction>(sum[i], other[i]);
    }
    for (std::byte *array : arrays)
      std::memcpy(array + block, sum, bytes);
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

} // namespace

bool canReduce(schema::DType dtype) {
  return dtype == schema::DType::F32 || dtype == schema::DType::F64 ||
         dtype == schema::DType::I32 || dtype == schema::DType::I64;
}

void allReduceSlice(schema::Reduction reduction, schema::DType dtype,
                    std::span<std::byte *const> arrays, uint64_t bytes,
                    int part, int parts) {
  auto cut = [&](int at) {
    uint64_t lines = (bytes + lineBytes - 1) / lineBytes;
    return std::min(bytes, lines * static_cast<uint64_t>(at) /
                               static_cast<uint64_t>(parts) * lineBytes);
  };
  uint64_t begin = cut(part), end = cut(part + 1);
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

} // namespace mg
