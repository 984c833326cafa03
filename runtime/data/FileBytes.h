// The bytes of an input file: mapped when it is plain, inflated into memory
// when it is gzip (told by content). What the bytes mean is ArrayFile's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/MappedFile.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace mg {

class FileBytes {
public:
  /// Opens and maps or inflates `path`. Errors: Io (with the system's reason),
  /// BadInput (empty, damaged gzip), OutOfMemory. Every message names the file.
  static Expected<std::shared_ptr<const FileBytes>>
  open(const std::string &path);

  std::span<const std::byte> bytes() const { return data; }

  ~FileBytes();
  FileBytes(const FileBytes &) = delete;
  FileBytes &operator=(const FileBytes &) = delete;

private:
  FileBytes() = default;
  Status inflateMapped();

  std::optional<MappedFile> mapped;
  std::byte *inflated = nullptr; // from malloc
  std::span<const std::byte> data;
};

} // namespace mg
