// A bundle's ELF shared object, loaded from memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mg {

/// The kernel ABI (RATIONALE R1): one call does block (x, y, z).
using KernelFunction = void (*)(void *const *bindings, const int64_t *scalars,
                                uint32_t x, uint32_t y, uint32_t z);

class CodeImage {
public:
  /// Loads from an anonymous file, so a read-only root and a noexec /tmp do.
  /// Errors: Io, BadInput (the loader's words).
  static Expected<std::unique_ptr<CodeImage>>
  load(std::span<const std::byte> elf);
  ~CodeImage();

  /// Errors: BadInput when the image itself does not define the symbol.
  Expected<KernelFunction> kernel(const char *name) const;

private:
  CodeImage(int descriptor, void *handle)
      : descriptor(descriptor), handle(handle) {}
  int descriptor;
  void *handle;
};

} // namespace mg
