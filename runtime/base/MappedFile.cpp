// A whole file mapped read-only: open, stat, map; the descriptor is closed at
// once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mg {
namespace {

Expected<std::span<const std::byte>> mapDescriptor(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0)
    return failure(Code::Io, "cannot stat: {}", strerror(errno));
  if (!S_ISREG(status.st_mode))
    return failure(Code::BadInput, "not a regular file");
  auto size = static_cast<size_t>(status.st_size);
  if (size == 0)
    return std::span<const std::byte>();
  void *address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED)
    return failure(Code::Io, "cannot map {} bytes: {}", size, strerror(errno));
  return std::span(static_cast<const std::byte *>(address), size);
}

} // namespace

Expected<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return failure(Code::Io, "{}: cannot open: {}", path, strerror(errno));
  auto content = mapDescriptor(descriptor);
  close(descriptor);
  if (!content)
    return tl::unexpected(std::move(content.error()).in(path));
  return MappedFile(*content);
}

MappedFile::~MappedFile() {
  if (!content.empty())
    munmap(const_cast<std::byte *>(content.data()), content.size());
}

} // namespace mg
