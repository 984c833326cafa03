// The safetensors file format (github.com/huggingface/safetensors): u64 header
// length, JSON header, data. Here only the format; what a session puts into
// such a file is Checkpoint's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/ElementType.h"
#include "runtime/data/FileBytes.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mg {

struct Tensor {
  std::string name;
  schema::DType dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

using Metadata = std::map<std::string, std::string>;

/// Writes the file atomically. Adds the metadata "crc32", zlib's checksum of
/// the data section. Errors: Io.
Status writeSafetensors(const std::string &path,
                        std::span<const Tensor> tensors, Metadata metadata);

class SafetensorsFile {
public:
  /// Opens and checks the whole file: header, offsets without gap or overlap,
  /// "crc32" if it has one. Errors: Io, BadInput (one line: file, what, found,
  /// expected).
  static Expected<SafetensorsFile> open(const std::string &path);

  const std::vector<Tensor> &tensors() const { return entries; }
  const Tensor *find(std::string_view name) const;
  const Metadata &metadata() const { return values; }
  /// A whole number of the metadata; `otherwise` when it is missing or not a
  /// number.
  int64_t number(const std::string &key, int64_t otherwise) const;
  /// A finite number of the metadata; nothing when it is missing or not one.
  std::optional<double> real(const std::string &key) const;

private:
  Status read(std::span<const std::byte> bytes);
  Status place(struct Header &header, std::span<const std::byte> data);

  std::shared_ptr<const FileBytes> file;
  std::vector<Tensor> entries;
  Metadata values;
};

} // namespace mg
