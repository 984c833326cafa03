// Places buffers with lifetimes in one arena. Knows nothing of MLIR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_SCHEDULE_PACKING_H
#define MG_COMPILER_SCHEDULE_PACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::mg {

/// A buffer that is in use from command `first` to command `last`, both
/// included.
struct Buffer {
  int64_t sizeBytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct Packing {
  llvm::SmallVector<int64_t> offsets; // of each buffer
  int64_t sizeBytes = 0;
};

/// Best fit in several orders (by size, by lifetime, by first use), the
/// smallest result. Offsets are multiples of `alignment`; `redZone` bytes (a
/// multiple of it) are free on both sides of each buffer.
Packing packBuffers(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                    int64_t redZone);

/// The most bytes in use at one command, sizes rounded up to `alignment`: no
/// packing is smaller.
int64_t liveBytes(llvm::ArrayRef<Buffer> buffers, int64_t alignment);

} // namespace mlir::mg

#endif // MG_COMPILER_SCHEDULE_PACKING_H
