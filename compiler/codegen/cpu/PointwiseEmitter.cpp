// Kernels without a reduction: one vector of points after another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/LoopBuilder.h"

using namespace mlir;
using namespace mlir::mg;

static Trace traceResults(const Kernel &kernel) {
  Trace trace;
  for (Value result : kernel.results)
    traceValue(kernel, result, kernel.resultPoint, trace);
  return trace;
}

/// Whether an array is read with a stride along `lane`, as a transpose does.
static bool isStrided(const Kernel &kernel, const Trace &trace, unsigned lane) {
  return llvm::any_of(trace.accesses, [&](const Access &access) {
    auto form = getLinearForm(access.element, kernel.dims.size());
    return !form ||
           (form->coefficients[lane] != 0 && form->coefficients[lane] != 1);
  });
}

int64_t mlir::mg::emitPointwise(LoopBuilder &loops) {
  const Kernel &kernel = loops.kernel;
  if (kernel.parallelLoops.empty()) {
    loops.storeResults(kernel.resultPoint);
    return 1;
  }
  ArrayRef<unsigned> outer = ArrayRef(kernel.parallelLoops).drop_back();
  unsigned lane = kernel.parallelLoops.back();
  int64_t rows = kernel.points(outer), columns = kernel.size(lane);
  Trace trace = traceResults(kernel);
  double cycles =
      rows * columns *
      pointCycles(kernel, trace, loops.lanes, loops.model.vectorBytes);
  Partition partition = choosePartition(rows, columns, 2 * loops.lanes, cycles);
  auto [rowRange, columnRange] = loops.blockRanges(partition, rows, columns);
  auto overColumns = [&](function_ref<void()> body) {
    loops.steps(columnRange, loops.lanes, [&](Value begin, int64_t count) {
      loops.eval.bind(lane, begin);
      loops.eval.setLane(lane);
      loops.eval.setActive(count);
      body();
    });
  };
  auto store = [&] { loops.storeResults(kernel.resultPoint); };
  // Reading down columns: rows run inside, so that the lines that a vector
  // gathers from are used up while they are in the cache.
  if (isStrided(kernel, trace, lane))
    overColumns([&] { loops.rowLoop(rowRange, outer, store); });
  else
    loops.rowLoop(rowRange, outer, [&] { overColumns(store); });
  return partition.rowBlocks * partition.columnBlocks;
}
