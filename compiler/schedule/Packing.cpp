// Best-fit interval packing: Pisarchyk and Lee, Efficient Memory Management for
// Deep Neural Net Inference, 2020, section 5
// ("greedy by size"), with the order of placement varied.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/Packing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir::mg;
using llvm::ArrayRef;
using llvm::SmallVector;

static bool areLiveTogether(const Buffer &a, const Buffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

namespace {
struct Placed {
  int64_t begin, end; // with the red zone behind the buffer
};
} // namespace

/// The start of the smallest gap of at least `need` bytes between `placed`
/// (sorted by begin), else behind the last.
static int64_t bestGap(ArrayRef<Placed> placed, int64_t need, int64_t begin) {
  int64_t free = begin, best = -1, bestGap = INT64_MAX;
  for (const Placed &neighbour : placed) {
    int64_t gap = neighbour.begin - free;
    if (gap >= need && gap < bestGap) {
      best = free;
      bestGap = gap;
    }
    free = std::max(free, neighbour.end);
  }
  return best >= 0 ? best : free;
}

static Packing packInOrder(ArrayRef<Buffer> buffers, ArrayRef<size_t> order,
                           int64_t alignment, int64_t redZone) {
  Packing result;
  result.offsets.resize(buffers.size());
  SmallVector<size_t> done;
  for (size_t index : order) {
    auto footprint = [&](size_t i) {
      return int64_t(llvm::alignTo(buffers[i].sizeBytes, alignment)) + redZone;
    };
    SmallVector<Placed> neighbours;
    for (size_t other : done)
      if (areLiveTogether(buffers[index], buffers[other]))
        neighbours.push_back(
            {result.offsets[other], result.offsets[other] + footprint(other)});
    llvm::sort(neighbours, [](const Placed &a, const Placed &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    int64_t offset = bestGap(neighbours, footprint(index), redZone);
    result.offsets[index] = offset;
    result.sizeBytes = std::max(result.sizeBytes, offset + footprint(index));
    done.push_back(index);
  }
  return result;
}

Packing mlir::mg::packBuffers(ArrayRef<Buffer> buffers, int64_t alignment,
                              int64_t redZone) {
  auto length = [&](size_t i) { return buffers[i].last - buffers[i].first; };
  auto bySize = [&](size_t a, size_t b) {
    return std::make_tuple(-buffers[a].sizeBytes, -length(a), a) <
           std::make_tuple(-buffers[b].sizeBytes, -length(b), b);
  };
  auto byLifetime = [&](size_t a, size_t b) {
    return std::make_tuple(-length(a), -buffers[a].sizeBytes, a) <
           std::make_tuple(-length(b), -buffers[b].sizeBytes, b);
  };
  auto byFirstUse = [&](size_t a, size_t b) {
    return std::make_tuple(buffers[a].first, -length(a), a) <
           std::make_tuple(buffers[b].first, -length(b), b);
  };
  auto packSorted = [&](auto less) {
    auto order = llvm::to_vector(llvm::seq<size_t>(0, buffers.size()));
    llvm::sort(order, less);
    return packInOrder(buffers, order, alignment, redZone);
  };
  Packing best = packSorted(bySize);
  for (Packing other : {packSorted(byLifetime), packSorted(byFirstUse)})
    if (other.sizeBytes < best.sizeBytes)
      best = std::move(other);
  return best;
}

int64_t mlir::mg::liveBytes(ArrayRef<Buffer> buffers, int64_t alignment) {
  // The maximum is reached where some buffer begins.
  int64_t most = 0;
  for (const Buffer &start : buffers) {
    int64_t live = 0;
    for (const Buffer &other : buffers)
      if (other.first <= start.first && start.first <= other.last)
        live += llvm::alignTo(other.sizeBytes, alignment);
    most = std::max(most, live);
  }
  return most;
}
