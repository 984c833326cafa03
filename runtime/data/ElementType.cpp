// The table behind ElementType.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/ElementType.h"

#include <fmt/format.h>

namespace mg {

static constexpr ElementType kElementTypes[] = {
    {schema::DType::F32, 4, "f32", "<f4", "F32"},
    {schema::DType::F64, 8, "f64", "<f8", "F64"},
    {schema::DType::F16, 2, "f16", "<f2", "F16"},
    {schema::DType::BF16, 2, "bf16", "", "BF16"},
    {schema::DType::I8, 1, "i8", "|i1", "I8"},
    {schema::DType::I16, 2, "i16", "<i2", "I16"},
    {schema::DType::I32, 4, "i32", "<i4", "I32"},
    {schema::DType::I64, 8, "i64", "<i8", "I64"},
    {schema::DType::U8, 1, "ui8", "|u1", "U8"},
    {schema::DType::U16, 2, "ui16", "<u2", "U16"},
    {schema::DType::U32, 4, "ui32", "<u4", "U32"},
    {schema::DType::U64, 8, "ui64", "<u8", "U64"},
    {schema::DType::Bool, 1, "i1", "|b1", "BOOL"},
};

const ElementType &elementType(schema::DType dtype) {
  // The table is in the schema's order; a verified bundle has no other value.
  return kElementTypes[static_cast<size_t>(dtype)];
}

const ElementType *elementTypeOfNpy(std::string_view descr) {
  for (const ElementType &type : kElementTypes)
    if (!type.npy.empty() && type.npy == descr)
      return &type;
  return nullptr;
}

const ElementType *elementTypeOfSafetensors(std::string_view name) {
  for (const ElementType &type : kElementTypes)
    if (type.safetensors == name)
      return &type;
  return nullptr;
}

std::string describeArray(schema::DType dtype, std::span<const int64_t> shape,
                          bool anyRows) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += anyRows && i == 0 ? "?x" : fmt::format("{}x", shape[i]);
  return text.append(elementType(dtype).name);
}

std::span<const int64_t> shapeOf(const schema::Array &array) {
  return {array.shape()->data(), array.shape()->size()};
}

int64_t bytesOf(std::span<const int64_t> shape, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return -1;
  return bytes;
}

} // namespace mg
