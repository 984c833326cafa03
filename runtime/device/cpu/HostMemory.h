// Zeroed, page-aligned memory straight from the system: pages cost nothing
// until they are touched.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace mg {

class HostMemory {
public:
  HostMemory() = default;
  /// Holds nothing (data() is null) if the system refuses.
  explicit HostMemory(uint64_t bytes);
  HostMemory(HostMemory &&other) noexcept
      : address(std::exchange(other.address, nullptr)),
        size(std::exchange(other.size, 0)) {}
  HostMemory &operator=(HostMemory &&other) noexcept {
    std::swap(address, other.address);
    std::swap(size, other.size);
    return *this;
  }
  ~HostMemory();

  std::byte *data() const { return address; }
  uint64_t bytes() const { return size; }

private:
  std::byte *address = nullptr;
  uint64_t size = 0;
};

/// What this process may still allocate: the smaller of free memory and swap,
/// and the cgroup's limit.
uint64_t availableMemory();

} // namespace mg
