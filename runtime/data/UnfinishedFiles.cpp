// A table of lock-free slots. Who takes a name out of its slot owns it, so a
// handler never reads one that another thread frees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/UnfinishedFiles.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace mg {

static std::atomic<char *> slots[64];
static_assert(std::atomic<char *>::is_always_lock_free);

UnfinishedFile::UnfinishedFile(const std::string &path) : slot(nullptr) {
  char *name = strdup(path.c_str());
  for (std::atomic<char *> &free : slots) {
    char *none = nullptr;
    if (name && free.compare_exchange_strong(none, name)) {
      slot = &free;
      return;
    }
  }
  std::free(name);
}

UnfinishedFile::UnfinishedFile(UnfinishedFile &&other) noexcept
    : slot(std::exchange(other.slot, nullptr)) {}

UnfinishedFile::~UnfinishedFile() {
  if (slot)
    std::free(slot->exchange(nullptr));
}

void removeUnfinishedFiles() {
  for (std::atomic<char *> &slot : slots)
    if (const char *name = slot.exchange(nullptr))
      unlink(name); // the name is not freed: a handler may not
}

} // namespace mg
