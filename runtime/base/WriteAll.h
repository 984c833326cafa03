// Writing to a descriptor to the end: what was cut short or interrupted goes
// on, and one that is not ready is waited for. Inline, for mgrun too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace mg {

/// Returns 0, or the errno of the write that failed.
inline int writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    pollfd ready{descriptor, POLLOUT, 0};
    if (errno == EAGAIN)
      poll(&ready, 1, -1);
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

} // namespace mg
