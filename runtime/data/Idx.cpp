// IDX, the format of the MNIST files (Y. LeCun, C. Cortes, C. Burges, "The
// MNIST database"): 00 00, type, rank, the sizes as big-endian u32, then the
// elements, big-endian, row-major.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mg {
namespace {

struct IdxType {
  unsigned code;
  schema::DType dtype;
};
constexpr IdxType kIdxTypes[] = {
    {0x08, schema::DType::U8},  {0x09, schema::DType::I8},
    {0x0b, schema::DType::I16}, {0x0c, schema::DType::I32},
    {0x0d, schema::DType::F32}, {0x0e, schema::DType::F64}};

const IdxType *findType(std::byte code) {
  for (const IdxType &type : kIdxTypes)
    if (type.code == static_cast<unsigned>(code))
      return &type;
  return nullptr;
}

int64_t bigEndian32(const std::byte *at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i)
    value = (value << 8) | static_cast<uint32_t>(at[i]);
  return value;
}

/// Turns big-endian elements into little-endian ones in memory of their own.
Status swapElements(InputArray &array, size_t elementBytes) {
  std::shared_ptr<std::byte[]> swapped(new (std::nothrow)
                                           std::byte[array.data.size()]);
  if (!swapped)
    return failure(Code::OutOfMemory, "no memory for {} bytes",
                   array.data.size());
  for (size_t at = 0; at < array.data.size(); at += elementBytes)
    std::reverse_copy(array.data.data() + at,
                      array.data.data() + at + elementBytes,
                      swapped.get() + at);
  array.data = {swapped.get(), array.data.size()};
  array.owner = swapped;
  return {};
}

} // namespace

bool looksLikeIdx(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && bytes[0] == std::byte{0} &&
         bytes[1] == std::byte{0};
}

Expected<InputArray> parseIdx(std::span<const std::byte> bytes) {
  const IdxType *type = findType(bytes[2]);
  if (!type)
    return failure(
        Code::BadInput,
        "IDX type 0x{:02x} is unknown, expected 0x08, 09, 0b, 0c, 0d or 0e",
        static_cast<unsigned>(bytes[2]));
  const size_t rank = static_cast<size_t>(bytes[3]);
  const size_t headerBytes = 4 + 4 * rank;
  if (rank == 0)
    return failure(Code::BadInput, "the IDX file has rank 0, expected rows");
  if (bytes.size() < headerBytes)
    return failure(Code::BadInput,
                   "the IDX header of rank {} takes {} bytes, found {}", rank,
                   headerBytes, bytes.size());
  InputArray array;
  array.dtype = type->dtype;
  for (size_t i = 0; i < rank; ++i)
    array.shape.push_back(bigEndian32(bytes.data() + 4 + 4 * i));
  const int64_t elementBytes = elementType(type->dtype).bytes;
  const int64_t expected = bytesOf(array.shape, elementBytes);
  array.data = bytes.subspan(headerBytes);
  if (expected < 0 || static_cast<uint64_t>(expected) != array.data.size())
    return failure(Code::BadInput,
                   "{} takes {} bytes of data, found {}: the file is damaged, "
                   "get it again",
                   describeArray(array.dtype, array.shape), expected,
                   array.data.size());
  if (elementBytes > 1)
    MG_TRY(swapElements(array, static_cast<size_t>(elementBytes)));
  return array;
}

} // namespace mg
