// What a reader is given: bytes, as a file. A target defines both functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "test/runtime/BundleBuilder.h"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace mg::test {

/// Good files to begin with.
std::vector<Bytes> fuzzSeeds();
/// Reads a file of this content; whether it is a good one.
bool accepts(std::span<const std::byte> content);

/// A file in memory with a path.
class MemoryFile {
public:
  explicit MemoryFile(std::span<const std::byte> content)
      : descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor < 0 || write(descriptor, content.data(), content.size()) !=
                              static_cast<ssize_t>(content.size()))
      std::abort();
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(descriptor); }
  std::string path() const {
    return fmt::format("/proc/self/fd/{}", descriptor);
  }

private:
  int descriptor;
};

} // namespace mg::test
