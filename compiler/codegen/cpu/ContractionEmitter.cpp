// Contractions: register tiles of accumulators over packed panels, and what
// follows the product applied to each tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mg;

/// Up to this many ops a tile, the epilogue is written out for each vector of
/// it; above, it loops over the tile's rows in scratch memory.
static constexpr int64_t kInlineEpilogueOps = 96;

namespace {
class ContractionEmitter {
public:
  ContractionEmitter(LoopBuilder &loops, const Contraction &contraction);
  int64_t emit();

private:
  void allocateScratch();
  void emitBlocked(const LoopRange &columns);
  void emitPanels(const LoopRange &columns, const ReducedBlock &block);
  void forPanels(const LoopRange &columns,
                 function_ref<void(Value, int64_t)> body);
  void forTiles(function_ref<void(int64_t)> body);
  SmallVector<Value> multiply(const ReducedBlock &block, int64_t rowCount,
                              int64_t count, ValueRange initial);
  SmallVector<Value> step(const ReducedBlock &block, int64_t rowCount,
                          int64_t count, ValueRange accumulators);
  Value rowElement(const ReducedBlock &block, int64_t i);
  Value laneVector(const ReducedBlock &block, int64_t v, int64_t width);
  SmallVector<Value> initialTile(int64_t rowCount, int64_t count);
  void finishTile(ValueRange tile, int64_t rowCount, int64_t count);
  void finishRow(int64_t i, ValueRange vectors, int64_t count);
  Value partialIndex(Value columnOffset, int64_t vectors);
  void clearPartials();
  void accumulatePartials(const LoopRange &columns, const ReducedBlock &block);
  void finishPartials(const LoopRange &columns);
  void select(int64_t v, int64_t count) {
    loops.eval.setActive(std::min(lanes, count - v * lanes));
  }
  int64_t vectorsFor(int64_t count) { return (count + lanes - 1) / lanes; }

  LoopBuilder &loops;
  const Kernel &kernel;
  const Contraction &c;
  ImplicitLocOpBuilder &b;
  PointEvaluator &eval;
  PanelPacker packer;
  int64_t lanes;
  Type vectorType;
  Value rowPanel, lanePanel, partials, tileScratch;
  LoopRange rows, outerRows;
  bool isEpilogueInline = true;
};
} // namespace

ContractionEmitter::ContractionEmitter(LoopBuilder &loops,
                                       const Contraction &contraction)
    : loops(loops), kernel(loops.kernel), c(contraction), b(loops.b),
      eval(loops.eval), packer(loops, contraction), lanes(loops.lanes),
      vectorType(VectorType::get(loops.lanes, contraction.element)) {
  Trace trace;
  for (Value result : kernel.results)
    traceValue(kernel, result, kernel.resultPoint, trace);
  isEpilogueInline =
      trace.bodyOps * c.tile.rows * c.tile.vectors <= kInlineEpilogueOps;
}

void ContractionEmitter::allocateScratch() {
  int64_t width = c.tile.vectors * lanes;
  if (c.packRows != Packing::None) {
    bool alongReduced = c.packRows == Packing::AlongReduced;
    int64_t minor = alongReduced ? c.blockDepth : c.blockRows();
    int64_t major = alongReduced ? c.blockRows() : c.blockDepth;
    int64_t stride = packedStride(minor, lanes, c.elementBytes());
    rowPanel = loops.scratch(c.element, major * stride + lanes);
  }
  if (c.packLanes != Packing::None)
    lanePanel = loops.scratch(c.element, c.blockDepth * width);
  if (c.reducedBlocks > 1) {
    int64_t columns = (c.lanesPerBlock + width - 1) / width * width;
    partials = loops.scratch(c.element, c.blockRows() * columns);
  } else if (!isEpilogueInline) {
    tileScratch = loops.scratch(c.element, c.tile.rows * width);
  }
}

//===----------------------------------------------------------------------===//
// A register tile
//===----------------------------------------------------------------------===//

/// Element (row + i, k) of the row operand, as a scalar.
Value ContractionEmitter::rowElement(const ReducedBlock &block, int64_t i) {
  if (c.packRows == Packing::None)
    return eval.evaluate(
        c.rowOperand->get(),
        shiftPoint(kernel.operandPoint(*c.rowOperand), c.row, i));
  bool alongReduced = c.packRows == Packing::AlongReduced;
  int64_t stride = packedStride(alongReduced ? c.blockDepth : c.blockRows(),
                                lanes, c.elementBytes());
  Value row = packer.rowNumber(outerRows, rows);
  Value depth = packer.depth(block);
  Value major = alongReduced ? row : depth, minor = alongReduced ? depth : row;
  Value at = arith::AddIOp::create(
      b, arith::MulIOp::create(b, major, eval.constantI64(stride)), minor);
  return eval.loadScalarAt(c.element, rowPanel, at,
                           alongReduced ? i * stride : i);
}

Value ContractionEmitter::laneVector(const ReducedBlock &block, int64_t v,
                                     int64_t width) {
  if (c.packLanes == Packing::None)
    return eval.evaluateVector(
        c.laneOperand->get(),
        shiftPoint(kernel.operandPoint(*c.laneOperand), c.lane, v * lanes));
  Value at;
  if (!c.reduced.empty())
    at = arith::MulIOp::create(b, packer.depth(block), eval.constantI64(width));
  return eval.loadWholeVector(c.element, lanePanel, at, v * lanes);
}

/// One step of k: an outer product onto the accumulators.
SmallVector<Value> ContractionEmitter::step(const ReducedBlock &block,
                                            int64_t rowCount, int64_t count,
                                            ValueRange accumulators) {
  int64_t vectors = vectorsFor(count);
  SmallVector<Value> right, next;
  for (int64_t v = 0; v < vectors; ++v) {
    select(v, count);
    right.push_back(laneVector(block, v, vectors * lanes));
  }
  for (int64_t i = 0; i < rowCount; ++i) {
    Value left = eval.broadcast(rowElement(block, i));
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = accumulators[i * vectors + v];
      if (loops.model.hasFma)
        next.push_back(vector::FMAOp::create(b, left, right[v], sum));
      else
        next.push_back(arith::AddFOp::create(
            b, arith::MulFOp::create(b, left, right[v]), sum));
    }
  }
  return next;
}

SmallVector<Value> ContractionEmitter::multiply(const ReducedBlock &block,
                                                int64_t rowCount, int64_t count,
                                                ValueRange initial) {
  return packer.nest(block, c.reduced, initial, [&](ValueRange carried) {
    return step(block, rowCount, count, carried);
  });
}

SmallVector<Value> ContractionEmitter::initialTile(int64_t rowCount,
                                                   int64_t count) {
  OpOperand &init = *kernel.root.getDpsInitOperand(0);
  Point point = kernel.operandPoint(init);
  SmallVector<Value> tile;
  for (int64_t i = 0; i < rowCount; ++i)
    for (int64_t v = 0; v < vectorsFor(count); ++v) {
      select(v, count);
      Point at = shiftPoint(shiftPoint(point, c.row, i), c.lane, v * lanes);
      tile.push_back(eval.evaluateVector(init.get(), at));
    }
  return tile;
}

/// Computes and stores the results of row `i` from the product's vectors.
void ContractionEmitter::finishRow(int64_t i, ValueRange vectors,
                                   int64_t count) {
  for (auto [v, value] : llvm::enumerate(vectors)) {
    select(v, count);
    Point point =
        shiftPoint(shiftPoint(kernel.resultPoint, c.row, i), c.lane, v * lanes);
    eval.provide(kernel.root.getResult(0), point, value);
    loops.storeResults(point);
  }
}

void ContractionEmitter::finishTile(ValueRange tile, int64_t rowCount,
                                    int64_t count) {
  int64_t vectors = vectorsFor(count), width = vectors * lanes;
  if (isEpilogueInline) {
    for (int64_t i = 0; i < rowCount; ++i)
      finishRow(i, tile.slice(i * vectors, vectors), count);
    return;
  }
  for (auto [i, value] : llvm::enumerate(tile))
    eval.storeAt(value, tileScratch, Value(), i * lanes);
  Value first = eval.expand(getAffineDimExpr(c.row, kernel.context()));
  loops.loop(eval.constantI64(0), eval.constantI64(rowCount), 1, [&](Value i) {
    eval.bind(c.row, arith::AddIOp::create(b, first, i));
    Value at = arith::MulIOp::create(b, i, eval.constantI64(width));
    SmallVector<Value> values;
    for (int64_t v = 0; v < vectors; ++v)
      values.push_back(
          eval.loadWholeVector(c.element, tileScratch, at, v * lanes));
    finishRow(0, values, count);
  });
}

//===----------------------------------------------------------------------===//
// Loops over tiles and panels
//===----------------------------------------------------------------------===//

void ContractionEmitter::forPanels(const LoopRange &columns,
                                   function_ref<void(Value, int64_t)> body) {
  loops.steps(columns, c.tile.vectors * lanes, [&](Value begin, int64_t count) {
    eval.bind(c.lane, begin);
    eval.setLane(c.lane);
    body(begin, count);
  });
}

void ContractionEmitter::forTiles(function_ref<void(int64_t)> body) {
  packer.outerRowLoop(outerRows, [&] {
    loops.steps(rows, c.tile.rows, [&](Value begin, int64_t rowCount) {
      eval.bind(c.row, begin);
      body(rowCount);
    });
  });
}

/// k in one piece: a tile's accumulators are its results.
void ContractionEmitter::emitPanels(const LoopRange &columns,
                                    const ReducedBlock &block) {
  if (rowPanel)
    packer.packRows(rowPanel, block, outerRows, rows);
  forPanels(columns, [&](Value, int64_t count) {
    if (lanePanel)
      packer.packLanes(lanePanel, block, vectorsFor(count), count);
    forTiles([&](int64_t rowCount) {
      SmallVector<Value> tile =
          multiply(block, rowCount, count, initialTile(rowCount, count));
      finishTile(tile, rowCount, count);
    });
  });
}

//===----------------------------------------------------------------------===//
// k in several blocks: partial sums wait in scratch memory
//===----------------------------------------------------------------------===//

/// Where the current tile's partial sums are: panel by panel, row by row.
Value ContractionEmitter::partialIndex(Value columnOffset, int64_t vectors) {
  Value panel =
      arith::MulIOp::create(b, columnOffset, eval.constantI64(c.blockRows()));
  Value row = arith::MulIOp::create(b, packer.rowNumber(outerRows, rows),
                                    eval.constantI64(vectors * lanes));
  return arith::AddIOp::create(b, panel, row);
}

void ContractionEmitter::clearPartials() {
  OpOperand &init = *kernel.root.getDpsInitOperand(0);
  int64_t width = c.tile.vectors * lanes;
  int64_t panels = (c.lanesPerBlock + width - 1) / width;
  // The initial value is one constant for all points.
  Point origin(kernel.resultPoint.size(),
               getAffineConstantExpr(0, kernel.context()));
  Value value = eval.evaluateVector(init.get(), origin);
  loops.loop(eval.constantI64(0),
             eval.constantI64(panels * width * c.blockRows()), lanes,
             [&](Value at) { eval.storeAt(value, partials, at); });
}

void ContractionEmitter::accumulatePartials(const LoopRange &columns,
                                            const ReducedBlock &block) {
  if (rowPanel)
    packer.packRows(rowPanel, block, outerRows, rows);
  forPanels(columns, [&](Value begin, int64_t count) {
    int64_t vectors = vectorsFor(count);
    if (lanePanel)
      packer.packLanes(lanePanel, block, vectors, count);
    Value offset = arith::SubIOp::create(b, begin, columns.begin);
    forTiles([&](int64_t rowCount) {
      Value at = partialIndex(offset, vectors);
      SmallVector<Value> tile;
      for (int64_t i = 0; i < rowCount * vectors; ++i)
        tile.push_back(
            eval.loadWholeVector(c.element, partials, at, i * lanes));
      tile = multiply(block, rowCount, count, tile);
      for (auto [i, value] : llvm::enumerate(tile))
        eval.storeAt(value, partials, at, i * lanes);
    });
  });
}

void ContractionEmitter::finishPartials(const LoopRange &columns) {
  forPanels(columns, [&](Value begin, int64_t count) {
    int64_t vectors = vectorsFor(count);
    Value offset = arith::SubIOp::create(b, begin, columns.begin);
    packer.outerRowLoop(outerRows, [&] {
      loops.loop(rows.begin, rows.end, 1, [&](Value row) {
        eval.bind(c.row, row);
        Value at = partialIndex(offset, vectors);
        SmallVector<Value> values;
        for (int64_t v = 0; v < vectors; ++v)
          values.push_back(
              eval.loadWholeVector(c.element, partials, at, v * lanes));
        finishRow(0, values, count);
      });
    });
  });
}

void ContractionEmitter::emitBlocked(const LoopRange &columns) {
  clearPartials();
  Value size = eval.constantI64(kernel.size(c.reduced[0]));
  loops.loop(eval.constantI64(0), size, c.reducedBlock, [&](Value begin) {
    Value end =
        arith::AddIOp::create(b, begin, eval.constantI64(c.reducedBlock));
    end = arith::MinSIOp::create(b, end, size);
    accumulatePartials(columns, {begin, end});
  });
  finishPartials(columns);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

int64_t ContractionEmitter::emit() {
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  int64_t units = kernel.points(c.outer);
  int64_t outerRowCount = kernel.points(c.outerRows);
  int64_t laneBlocks = ceilDiv(kernel.size(c.lane), c.lanesPerBlock);
  int64_t rowBlocks = ceilDiv(kernel.size(c.row), c.rowsPerBlock);
  int64_t outerRowBlocks = ceilDiv(outerRowCount, c.outerRowsPerBlock);
  Value number = loops.block;
  auto digit = [&](int64_t count) -> Value {
    if (count == 1)
      return eval.constantI64(0);
    Value size = eval.constantI64(count);
    Value value = arith::RemUIOp::create(b, number, size);
    number = arith::DivUIOp::create(b, number, size);
    return value;
  };
  LoopRange columns =
      loops.piece(digit(laneBlocks), kernel.size(c.lane), c.lanesPerBlock);
  rows = loops.piece(digit(rowBlocks), kernel.size(c.row), c.rowsPerBlock);
  outerRows =
      loops.piece(digit(outerRowBlocks), outerRowCount, c.outerRowsPerBlock);
  LoopRange unitRange = loops.piece(number, units, c.unitsPerBlock);
  allocateScratch();
  loops.rowLoop(unitRange, c.outer, [&] {
    if (c.reducedBlocks > 1)
      emitBlocked(columns);
    else
      emitPanels(columns, {});
  });
  return ceilDiv(units, c.unitsPerBlock) * outerRowBlocks * rowBlocks *
         laneBlocks;
}

std::optional<int64_t> mlir::mg::emitContraction(LoopBuilder &loops) {
  std::optional<Contraction> contraction =
      matchContraction(loops.kernel, loops.model, loops.lanes);
  if (!contraction)
    return std::nullopt;
  return ContractionEmitter(loops, *contraction).emit();
}
