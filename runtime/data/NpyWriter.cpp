// Positional writes into an AtomicFile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/NpyWriter.h"

#include <fmt/format.h>

namespace mg {

std::string npyHeader(std::string_view descr, std::span<const int64_t> shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += fmt::format("{}, ", size);
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                  descr, sizes);
  const size_t prefix = 10; // magic, version, length
  dict.append(63 - (prefix + dict.size()) % 64, ' ').push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(dict.size() & 0xff));
  header.push_back(static_cast<char>(dict.size() >> 8));
  return header + dict;
}

Expected<NpyWriter> NpyWriter::create(const std::string &path,
                                      schema::DType dtype,
                                      std::span<const int64_t> shape) {
  const ElementType &type = elementType(dtype);
  if (type.npy.empty())
    return failure(
        Code::Unsupported,
        "{}: .npy has no element type {}, cast it to f32 in the model", path,
        type.name);
  MG_TRY_ASSIGN(file, AtomicFile::create(path));
  const std::string header = npyHeader(type.npy, shape);
  MG_TRY(file.writeAt(0, std::as_bytes(std::span(header))));
  const int64_t rowBytes = bytesOf(shape.subspan(1), type.bytes);
  return NpyWriter(std::move(file), header.size(),
                   static_cast<uint64_t>(rowBytes));
}

Status NpyWriter::writeRows(int64_t first, std::span<const std::byte> rows) {
  return file.writeAt(dataStart + static_cast<uint64_t>(first) * rowBytes,
                      rows);
}

} // namespace mg
