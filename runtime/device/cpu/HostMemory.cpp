// mmap, and what the system says is left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/HostMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

namespace mg {
namespace {

constexpr uint64_t hugePageBytes = 2 << 20;

/// The first number in a one-line file, or `absent` ("max" and missing files do
/// not limit).
uint64_t numberIn(const char *path, uint64_t absent) {
  std::FILE *file = std::fopen(path, "re");
  if (!file)
    return absent;
  unsigned long long value = absent;
  if (std::fscanf(file, "%llu", &value) != 1)
    value = absent;
  std::fclose(file);
  return value;
}

/// MemAvailable + SwapFree of /proc/meminfo.
uint64_t freeSystemMemory() {
  std::FILE *file = std::fopen("/proc/meminfo", "re");
  if (!file)
    return UINT64_MAX;
  uint64_t total = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    unsigned long long kibibytes = 0;
    if (std::sscanf(line, "MemAvailable: %llu", &kibibytes) == 1 ||
        std::sscanf(line, "SwapFree: %llu", &kibibytes) == 1)
      total += kibibytes * 1024;
  }
  std::fclose(file);
  return total == 0 ? UINT64_MAX : total;
}

} // namespace

HostMemory::HostMemory(uint64_t bytes) {
  if (bytes == 0)
    return;
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return;
  address = static_cast<std::byte *>(mapped);
  size = bytes;
  if (bytes >= hugePageBytes)
    madvise(
        mapped, bytes,
        MADV_HUGEPAGE); // a hint: fewer TLB misses where the system grants it
}

HostMemory::~HostMemory() {
  if (address)
    munmap(address, size);
}

uint64_t availableMemory() {
  uint64_t limit = std::min(
      numberIn("/sys/fs/cgroup/memory.max", UINT64_MAX),
      numberIn("/sys/fs/cgroup/memory/memory.limit_in_bytes", UINT64_MAX));
  return std::min(limit, freeSystemMemory());
}

} // namespace mg
