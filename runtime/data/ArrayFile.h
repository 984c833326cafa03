// One array of input rows, from an IDX file, a .npy file, or the caller's
// memory. The format is told by content, never by name; either may be gzip'd.
// Start at readArrayFile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/ElementType.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mg {

/// Rows are shape[0]; data is row-major and little-endian, without any
/// alignment of its own.
struct InputArray {
  schema::DType dtype = schema::DType::U8;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void>
      owner;          // keeps `data` alive; empty for the caller's memory
  std::string source; // the file, for messages

  int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  int64_t rowBytes() const {
    return shape.empty() || shape[0] == 0
               ? 0
               : bytesOf(shape, elementType(dtype).bytes) / shape[0];
  }
};

/// Opens an IDX or .npy file. Errors: Io, BadInput (wrong magic, short file,
/// trailing bytes, a type or an order that is not supported), OutOfMemory; each
/// names the file, what was found and expected.
Expected<InputArray> readArrayFile(const std::string &path);

/// The parsers alone. The array's data points into `bytes` (IDX with elements
/// over one byte: into `owner`, as IDX is big-endian); `source` is left empty.
Expected<InputArray> parseIdx(std::span<const std::byte> bytes);
Expected<InputArray> parseNpy(std::span<const std::byte> bytes);
bool looksLikeIdx(std::span<const std::byte> bytes);
bool looksLikeNpy(std::span<const std::byte> bytes);

} // namespace mg
