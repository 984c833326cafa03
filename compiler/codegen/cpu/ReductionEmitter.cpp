// Reductions of any body, in one of two forms. Across: lanes are results, each
// summed in the order of the reduced dimensions. Along: lanes are partial sums
// of one result, folded at the end in a fixed tree.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mg;

/// Vectors reduced at a time, to hide the latency of the combining op.
static constexpr int64_t kVectors = 4;

/// The ops that combine an element with an accumulator, one a result. Empty
/// if some accumulator is used in another way (an argmax, say): then lanes
/// cannot be partial results.
static SmallVector<Operation *> findCombiners(linalg::GenericOp root) {
  SmallVector<Operation *> combiners;
  Operation *yield = root.getBody()->getTerminator();
  for (auto [i, accumulator] : llvm::enumerate(root.getRegionOutputArgs())) {
    Operation *op = yield->getOperand(i).getDefiningOp();
    if (!op || !accumulator.hasOneUse() || !op->hasOneUse() ||
        *accumulator.user_begin() != op || op->getNumOperands() != 2 ||
        !arith::getNeutralElement(op))
      return {};
    combiners.push_back(op);
  }
  return combiners;
}

namespace {
class ReductionEmitter {
public:
  explicit ReductionEmitter(LoopBuilder &loops)
      : loops(loops), kernel(loops.kernel), root(loops.kernel.root), b(loops.b),
        eval(loops.eval), lanes(loops.lanes),
        combiners(findCombiners(loops.kernel.root)) {}
  int64_t emit();

private:
  double laneCost(const Trace &trace, unsigned lane) const;
  bool isBetterAlong(const Trace &trace) const;
  void emitAcross(const LoopRange &rows, const LoopRange &columns,
                  int64_t step);
  void emitAcrossTile(int64_t count);
  void emitAlong(const LoopRange &rows, const LoopRange &columns);
  void emitAlongTile(Value begin, int64_t count);
  SmallVector<Value> nest(ArrayRef<unsigned> dims, ValueRange initial,
                          function_ref<SmallVector<Value>(ValueRange)> body);
  SmallVector<Value> accumulate(ValueRange accumulators, int64_t offset,
                                int lane);
  SmallVector<Value> reducePoint();
  SmallVector<Value> reduceLaneDim(ValueRange accumulators, int64_t vectors);
  Value combine(size_t result, Value lhs, Value rhs);
  Value fold(size_t result, Value vector);
  Value initialValue(size_t result, int64_t offset, int lane);
  void provideResults(ValueRange values, const Point &point);

  LoopBuilder &loops;
  const Kernel &kernel;
  linalg::GenericOp root;
  ImplicitLocOpBuilder &b;
  PointEvaluator &eval;
  int64_t lanes;
  SmallVector<Operation *> combiners;
};
} // namespace

//===----------------------------------------------------------------------===//
// Common
//===----------------------------------------------------------------------===//

/// Loops over `dims`, carrying accumulators.
SmallVector<Value>
ReductionEmitter::nest(ArrayRef<unsigned> dims, ValueRange initial,
                       function_ref<SmallVector<Value>(ValueRange)> body) {
  if (dims.empty())
    return body(initial);
  return loops.loopCarrying(eval.constantI64(0),
                            eval.constantI64(kernel.size(dims[0])), 1, initial,
                            [&](Value iv, ValueRange carried) {
                              eval.bind(dims[0], iv);
                              return nest(dims.drop_front(), carried, body);
                            });
}

/// One application of the root's body, `offset` points on along `lane`.
SmallVector<Value> ReductionEmitter::accumulate(ValueRange accumulators,
                                                int64_t offset, int lane) {
  SmallVector<Value> arguments(root.getNumDpsInputs());
  llvm::append_range(arguments, accumulators);
  Point point = kernel.identity;
  if (lane >= 0)
    point = shiftPoint(point, lane, offset);
  SmallVector<Value> next = eval.evaluateBody(root, point, arguments);
  if (lane >= 0)
    for (Value &value : next)
      value = eval.broadcast(value);
  return next;
}

Value ReductionEmitter::initialValue(size_t result, int64_t offset, int lane) {
  OpOperand &init = *root.getDpsInitOperand(result);
  Point point = kernel.operandPoint(init);
  if (lane < 0)
    return eval.evaluate(init.get(), point);
  return eval.evaluateVector(init.get(), shiftPoint(point, lane, offset));
}

void ReductionEmitter::provideResults(ValueRange values, const Point &point) {
  for (auto [result, value] : llvm::zip(root.getResults(), values))
    eval.provide(result, point, value);
}

//===----------------------------------------------------------------------===//
// Across: lanes are results
//===----------------------------------------------------------------------===//

/// Reduces `count` results from the current point on along the last loop.
void ReductionEmitter::emitAcrossTile(int64_t count) {
  int lane = kernel.parallelLoops.empty() ? -1 : kernel.parallelLoops.back();
  int64_t vectors = (count + lanes - 1) / lanes;
  size_t results = root.getNumResults();
  auto select = [&](int64_t vector) {
    eval.setActive(std::min(lanes, count - vector * lanes));
  };
  SmallVector<Value> initial;
  for (int64_t v = 0; v < vectors; ++v) {
    select(v);
    for (size_t i = 0; i < results; ++i)
      initial.push_back(initialValue(i, v * lanes, lane));
  }
  SmallVector<Value> reduced =
      nest(kernel.reductionLoops, initial, [&](ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t v = 0; v < vectors; ++v) {
          select(v);
          llvm::append_range(
              next,
              accumulate(carried.slice(v * results, results), v * lanes, lane));
        }
        return next;
      });
  for (int64_t v = 0; v < vectors; ++v) {
    select(v);
    Point point = kernel.resultPoint;
    if (lane >= 0)
      point = shiftPoint(point, lane, v * lanes);
    provideResults(ArrayRef(reduced).slice(v * results, results), point);
    loops.storeResults(point);
  }
}

void ReductionEmitter::emitAcross(const LoopRange &rows,
                                  const LoopRange &columns, int64_t step) {
  if (kernel.parallelLoops.empty()) {
    emitAcrossTile(1);
    return;
  }
  unsigned lane = kernel.parallelLoops.back();
  loops.rowLoop(rows, ArrayRef(kernel.parallelLoops).drop_back(), [&] {
    loops.steps(columns, step, [&](Value begin, int64_t count) {
      eval.bind(lane, begin);
      eval.setLane(lane);
      emitAcrossTile(count);
    });
  });
}

//===----------------------------------------------------------------------===//
// Along: lanes are partial results
//===----------------------------------------------------------------------===//

Value ReductionEmitter::combine(size_t result, Value lhs, Value rhs) {
  Operation *op = combiners[result]->clone();
  op->setOperands({lhs, rhs});
  op->getResult(0).setType(lhs.getType());
  return b.insert(op)->getResult(0);
}

/// Combines the lanes of a vector pairwise, halves first.
Value ReductionEmitter::fold(size_t result, Value vector) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    Value low =
        vector::ExtractStridedSliceOp::create(b, vector, {0}, {half}, {1});
    Value high =
        vector::ExtractStridedSliceOp::create(b, vector, {half}, {half}, {1});
    vector = combine(result, low, high);
  }
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}

/// Reduces the last reduced dimension into `vectors` accumulators a result.
SmallVector<Value> ReductionEmitter::reduceLaneDim(ValueRange accumulators,
                                                   int64_t vectors) {
  unsigned lane = kernel.reductionLoops.back();
  size_t results = root.getNumResults();
  int64_t extent = kernel.size(lane), step = vectors * lanes;
  auto apply = [&](SmallVector<Value> values, Value begin, int64_t count) {
    eval.bind(lane, begin);
    eval.setLane(lane);
    for (int64_t v = 0; v * lanes < count; ++v) {
      eval.setActive(std::min(lanes, count - v * lanes));
      MutableArrayRef<Value> old =
          MutableArrayRef(values).slice(v * results, results);
      SmallVector<Value> next = accumulate(old, v * lanes, lane);
      for (size_t i = 0; i < results; ++i)
        old[i] = eval.getActive() == lanes
                     ? next[i]
                     : arith::SelectOp::create(b, eval.mask(eval.getActive()),
                                               next[i], old[i]);
    }
    return values;
  };
  int64_t full = extent / step * step;
  SmallVector<Value> values(accumulators);
  if (full > 0)
    values = loops.loopCarrying(
        eval.constantI64(0), eval.constantI64(full), step, values,
        [&](Value iv, ValueRange carried) {
          return apply(SmallVector<Value>(carried), iv, step);
        });
  if (full == extent)
    return values;
  Value begin = eval.constantI64(full);
  eval.enter(begin.getDefiningOp());
  eval.bind(lane, begin);
  values = apply(values, begin, extent - full);
  eval.leave();
  return values;
}

/// Reduces one result at the current point to scalars.
SmallVector<Value> ReductionEmitter::reducePoint() {
  unsigned lane = kernel.reductionLoops.back();
  size_t results = root.getNumResults();
  int64_t vectors = std::clamp<int64_t>(kernel.size(lane) / lanes, 1, kVectors);
  SmallVector<Value> initial;
  for (int64_t v = 0; v < vectors; ++v)
    for (Operation *op : combiners)
      initial.push_back(eval.broadcast(
          arith::ConstantOp::create(b, *arith::getNeutralElement(op))));
  SmallVector<Value> reduced =
      nest(ArrayRef(kernel.reductionLoops).drop_back(), initial,
           [&](ValueRange carried) { return reduceLaneDim(carried, vectors); });
  SmallVector<Value> values;
  for (size_t i = 0; i < results; ++i) {
    Value vector = reduced[i];
    for (int64_t v = 1; v < vectors; ++v)
      vector = combine(i, vector, reduced[v * results + i]);
    values.push_back(combine(i, initialValue(i, 0, -1), fold(i, vector)));
  }
  return values;
}

/// Reduces `count` results one by one into a buffer, then computes what
/// follows the reduction on all of them at once.
void ReductionEmitter::emitAlongTile(Value begin, int64_t count) {
  unsigned column = kernel.parallelLoops.back();
  SmallVector<Value> buffers;
  for (Value result : root.getResults())
    buffers.push_back(
        loops.scratch(getElementTypeOrSelf(result.getType()), lanes));
  loops.loop(eval.constantI64(0), eval.constantI64(count), 1, [&](Value j) {
    eval.bind(column, arith::AddIOp::create(b, begin, j));
    for (auto [value, buffer] : llvm::zip(reducePoint(), buffers))
      eval.storeAt(value, buffer, j);
  });
  eval.bind(column, begin);
  eval.setLane(column);
  eval.setActive(count);
  SmallVector<Value> values;
  for (auto [result, buffer] : llvm::zip(root.getResults(), buffers))
    values.push_back(
        eval.loadWholeVector(getElementTypeOrSelf(result.getType()), buffer));
  provideResults(values, kernel.resultPoint);
  loops.storeResults(kernel.resultPoint);
}

void ReductionEmitter::emitAlong(const LoopRange &rows,
                                 const LoopRange &columns) {
  if (kernel.parallelLoops.empty()) {
    provideResults(reducePoint(), kernel.resultPoint);
    loops.storeResults(kernel.resultPoint);
    return;
  }
  loops.rowLoop(rows, ArrayRef(kernel.parallelLoops).drop_back(), [&] {
    loops.steps(columns, lanes, [&](Value begin, int64_t count) {
      emitAlongTile(begin, count);
    });
  });
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Cycles a point when vectors run along `lane`: one a contiguous vector, one
/// a lane otherwise, and the idle lanes of the last vector.
double ReductionEmitter::laneCost(const Trace &trace, unsigned lane) const {
  double cycles = 0.5 * trace.bodyOps;
  for (const Access &access : trace.accesses) {
    auto form = getLinearForm(access.element, kernel.dims.size());
    int64_t step = form ? form->coefficients[lane] : lanes;
    cycles += step == 0 ? 0.25 : step == 1 ? 1 : lanes;
  }
  int64_t size = std::max<int64_t>(kernel.size(lane), 1);
  return cycles * ((size + lanes - 1) / lanes) / size;
}

bool ReductionEmitter::isBetterAlong(const Trace &trace) const {
  if (combiners.empty() || kernel.reductionLoops.empty())
    return false;
  if (kernel.parallelLoops.empty())
    return true;
  // Folding a vector and passing it through memory, about 12 cycles a result.
  double fold =
      12.0 / std::max<int64_t>(kernel.points(kernel.reductionLoops), 1);
  return laneCost(trace, kernel.reductionLoops.back()) + fold <
         laneCost(trace, kernel.parallelLoops.back());
}

int64_t ReductionEmitter::emit() {
  Trace trace;
  for (OpOperand *input : root.getDpsInputOperands())
    traceValue(kernel, input->get(), kernel.operandPoint(*input), trace);
  trace.bodyOps += root.getBody()->getOperations().size();
  bool along = isBetterAlong(trace);
  int64_t rows = 1, columns = 1;
  if (!kernel.parallelLoops.empty()) {
    rows = kernel.points(ArrayRef(kernel.parallelLoops).drop_back());
    columns = kernel.size(kernel.parallelLoops.back());
  }
  double cycles = rows * columns * kernel.points(kernel.reductionLoops) *
                  pointCycles(kernel, trace, lanes, loops.model.vectorBytes);
  int64_t wanted =
      std::max<int64_t>(1, cycles / kBlockCycles / std::max<int64_t>(rows, 1));
  int64_t vectors =
      along ? 1 : std::clamp<int64_t>(columns / lanes / wanted, 1, kVectors);
  Partition partition = choosePartition(rows, columns, vectors * lanes, cycles);
  auto [rowRange, columnRange] = loops.blockRanges(partition, rows, columns);
  if (along)
    emitAlong(rowRange, columnRange);
  else
    emitAcross(rowRange, columnRange, vectors * lanes);
  return partition.rowBlocks * partition.columnBlocks;
}

int64_t mlir::mg::emitReduction(LoopBuilder &loops) {
  return ReductionEmitter(loops).emit();
}
