// write, fsync, rename, fsync of the folder: after a crash there is the old
// file or the new one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/AtomicFile.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace mg {

/// The link that names an open file; needs /proc.
static std::string openFilePath(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

static std::string folderOf(const std::string &path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool AtomicFile::openTemporary() {
  fd = ::open(folderOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0 && access(openFilePath(fd).c_str(), F_OK) == 0)
    return true;
  if (fd >= 0)
    close(fd);
  fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  named = fd >= 0;
  return named;
}

/// Gives the file its temporary name: a link cannot replace what is there, a
/// rename can.
bool AtomicFile::link() {
  unlink(temporary.c_str()); // of a process that had this number and is dead
  named = linkat(AT_FDCWD, openFilePath(fd).c_str(), AT_FDCWD,
                 temporary.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return named;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::move(other.temporary)),
      unfinished(std::move(other.unfinished)), fd(std::exchange(other.fd, -1)),
      named(other.named) {}

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  close(fd);
  if (named)
    unlink(temporary.c_str());
}

Expected<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  file.target = path;
  struct stat there{};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode))
    return failure(Code::InvalidArgument,
                   "{}: cannot write it: it is no regular file", path);
  if (std::unique_ptr<char, decltype(&std::free)> real(
          realpath(path.c_str(), nullptr), &std::free);
      real)
    file.target = real.get();
  file.temporary = fmt::format("{}.tmp-{}", file.target, getpid());
  file.unfinished.emplace(file.temporary);
  if (!file.openTemporary())
    return failure(Code::Io, "{}: cannot write it: {}", path,
                   std::strerror(errno));
  if (exists)
    fchmod(file.fd, there.st_mode & 07777); // as it was; else as umask says
  return file;
}

Status AtomicFile::writeAt(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failure(Code::Io, "{}: cannot write it: {}", target,
                     std::strerror(written < 0 ? errno : ENOSPC));
    offset += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

static bool flush(int fd) {
  int result = 0;
  do
    result = fsync(fd);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Linux closes a descriptor even where it was interrupted.
static bool closeWritten(int fd) { return close(fd) == 0 || errno == EINTR; }

/// Makes the rename itself durable. Some file systems refuse fsync on a folder:
/// the file is there all the same.
static void syncFolderOf(const std::string &path) {
  const int fd =
      ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  flush(fd);
  close(fd);
}

Status AtomicFile::commit() {
  const bool flushed = flush(fd) && (named || link());
  const int flushReason = errno; // close may set another
  const bool closed = closeWritten(fd);
  fd = -1;
  if (flushed && closed &&
      std::rename(temporary.c_str(), target.c_str()) == 0) {
    syncFolderOf(target);
    return {};
  }
  const int reason = flushed ? errno : flushReason;
  if (named)
    unlink(temporary.c_str());
  return failure(Code::Io, "{}: cannot write it: {}", target,
                 std::strerror(reason));
}

} // namespace mg
