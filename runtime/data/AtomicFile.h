// A file that appears under its name complete or not at all: written without a
// name where the file system can, else beside it; flushed to disk, then
// renamed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/UnfinishedFiles.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mg {

class AtomicFile {
public:
  /// Opens a file without a name, which is gone when the process is, or one
  /// named PATH.tmp-PID; where `path` is a link, beside what it points to.
  /// Errors: Io (no such folder, no permission), InvalidArgument (what is there
  /// is no regular file).
  static Expected<AtomicFile> create(const std::string &path);

  /// Writes at an offset; threads may write different ranges at once. Errors:
  /// Io (disk full).
  Status writeAt(uint64_t offset, std::span<const std::byte> bytes);

  /// Flushes the file and its folder to disk and gives the file its name.
  /// Errors: Io.
  Status commit();

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile(); // removes the temporary file unless committed

private:
  AtomicFile() = default;
  bool openTemporary();
  bool link();

  std::string target, temporary;
  std::optional<UnfinishedFile> unfinished; // keeps `temporary`
  int fd = -1;
  bool named = false; // whether `temporary` exists
};

} // namespace mg
