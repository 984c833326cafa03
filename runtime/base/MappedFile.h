// A whole file mapped read-only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace mg {

class MappedFile {
public:
  /// Errors: Io (the system's words), BadInput (not a regular file). An empty
  /// file gives an empty span.
  static Expected<MappedFile> open(const std::string &path);

  MappedFile(MappedFile &&other) noexcept
      : content(std::exchange(other.content, {})) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(content, other.content);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return content; }

private:
  explicit MappedFile(std::span<const std::byte> content) : content(content) {}
  std::span<const std::byte> content;
};

} // namespace mg
