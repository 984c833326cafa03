// Names and sizes of element types, as the model text, .npy files and
// safetensors files spell them. One table for all of them, so that a new type
// is one line.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/schema/bundle_generated.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mg {

struct ElementType {
  schema::DType dtype;
  int64_t bytes;
  std::string_view name;        // in the model text and in messages: "ui8"
  std::string_view npy;         // .npy descr: "|u1"; empty: .npy cannot say it
  std::string_view safetensors; // "U8"
};

const ElementType &elementType(schema::DType dtype);

/// The type that a file spells so; nullptr when there is none.
const ElementType *elementTypeOfNpy(std::string_view descr);
const ElementType *elementTypeOfSafetensors(std::string_view name);

/// "784x512xf32", or just "f32" for a scalar; with `anyRows` the first size is
/// `?`: "?x28x28xui8".
std::string describeArray(schema::DType dtype, std::span<const int64_t> shape,
                          bool anyRows = false);

/// The shape of a bundle's array as a plain span.
std::span<const int64_t> shapeOf(const schema::Array &array);

/// Product of sizes times `elementBytes`; -1 if it does not fit into 63 bits or
/// a size is negative.
int64_t bytesOf(std::span<const int64_t> shape, int64_t elementBytes);

} // namespace mg
