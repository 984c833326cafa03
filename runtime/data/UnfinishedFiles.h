// The temporary names of files that are being written, for a process that ends
// without running destructors: by a signal handler, or without memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <string>

namespace mg {

/// Keeps one name as long as it lives. Past 64 at once names are not kept.
class UnfinishedFile {
public:
  explicit UnfinishedFile(const std::string &path);
  UnfinishedFile(UnfinishedFile &&other) noexcept;
  UnfinishedFile &operator=(UnfinishedFile &&) = delete;
  ~UnfinishedFile();

private:
  std::atomic<char *> *slot;
};

/// Unlinks every file whose name is kept. Safe in a signal handler and from any
/// thread.
void removeUnfinishedFiles();

} // namespace mg
