// Copies a contraction's operands into the order in which tiles read them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mg;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value>
PanelPacker::nest(const ReducedBlock &block, ArrayRef<unsigned> dims,
                  ValueRange initial,
                  function_ref<SmallVector<Value>(ValueRange)> body) {
  if (dims.empty())
    return body(initial);
  bool isBlocked = block.begin && dims[0] == c.reduced[0];
  PointEvaluator &eval = loops.eval;
  Value begin = isBlocked ? block.begin : eval.constantI64(0);
  Value end =
      isBlocked ? block.end : eval.constantI64(loops.kernel.size(dims[0]));
  return loops.loopCarrying(
      begin, end, 1, initial, [&](Value iv, ValueRange carried) {
        eval.bind(dims[0], iv);
        return nest(block, dims.drop_front(), carried, body);
      });
}

LoopRange PanelPacker::lastRange(const ReducedBlock &block) {
  int64_t size = loops.kernel.size(c.reduced.back());
  if (block.begin && c.reduced.size() == 1)
    return {block.begin, block.end, size, false};
  return {loops.eval.constantI64(0), loops.eval.constantI64(size), size, true};
}

void PanelPacker::outerRowLoop(const LoopRange &outerRows,
                               function_ref<void()> body) {
  if (c.outerRows.empty()) {
    outerRow = Value();
    body();
    return;
  }
  loops.loop(outerRows.begin, outerRows.end, 1, [&](Value number) {
    outerRow = number;
    loops.bindDigits(number, c.outerRows);
    body();
  });
}

Value PanelPacker::depth(const ReducedBlock &block) {
  MLIRContext *context = loops.kernel.context();
  AffineExpr number = getAffineConstantExpr(0, context);
  int64_t inner = 1;
  for (unsigned dim : llvm::reverse(c.reduced)) {
    number = number + getAffineDimExpr(dim, context) * inner;
    inner *= loops.kernel.size(dim);
  }
  Value value = loops.eval.expand(number);
  if (!block.begin)
    return value;
  Value first = arith::MulIOp::create(
      loops.b, block.begin,
      loops.eval.constantI64(inner / loops.kernel.size(c.reduced[0])));
  return arith::SubIOp::create(loops.b, value, first);
}

Value PanelPacker::rowNumber(const LoopRange &outerRows,
                             const LoopRange &rows) {
  PointEvaluator &eval = loops.eval;
  Value row = eval.expand(getAffineDimExpr(c.row, loops.kernel.context()));
  if (!rows.whole)
    row = arith::SubIOp::create(loops.b, row, rows.begin);
  if (!outerRow)
    return row;
  Value outer = outerRow;
  if (!outerRows.whole)
    outer = arith::SubIOp::create(loops.b, outer, outerRows.begin);
  outer = arith::MulIOp::create(loops.b, outer,
                                eval.constantI64(loops.kernel.size(c.row)));
  return arith::AddIOp::create(loops.b, outer, row);
}

static Value scale(LoopBuilder &loops, Value value, int64_t factor) {
  return arith::MulIOp::create(loops.b, value, loops.eval.constantI64(factor));
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

static Value shuffle(LoopBuilder &loops, Value a, Value b,
                     function_ref<int64_t(int64_t)> lane) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < loops.lanes; ++i)
    mask.push_back(lane(i));
  return vector::ShuffleOp::create(loops.b, a, b, mask);
}

/// Exchanges the off-diagonal `s` x `s` blocks of every 2s x 2s block.
static void exchangeBlocks(LoopBuilder &loops, MutableArrayRef<Value> rows,
                           int64_t s) {
  int64_t lanes = loops.lanes;
  for (int64_t i = 0; i < lanes; ++i) {
    if (i & s)
      continue;
    Value a = rows[i], b = rows[i + s];
    rows[i] = shuffle(loops, a, b,
                      [&](int64_t l) { return l & s ? lanes + l - s : l; });
    rows[i + s] = shuffle(loops, a, b,
                          [&](int64_t l) { return l & s ? lanes + l : l + s; });
  }
}

/// Transposes 4 x 4 blocks of 32-bit lanes by the unpack instructions, which
/// work within 128 bits.
static void transposeFours(LoopBuilder &loops, MutableArrayRef<Value> rows) {
  int64_t lanes = loops.lanes;
  auto unpack = [&](Value a, Value b, int64_t half) {
    return shuffle(loops, a, b, [&](int64_t l) {
      int64_t source = (l & ~3) + 2 * half + (l & 3) / 2;
      return l & 1 ? lanes + source : source;
    });
  };
  auto pairs = [&](Value a, Value b, int64_t half) {
    return shuffle(loops, a, b, [&](int64_t l) {
      int64_t source = (l & ~3) + 2 * half + (l & 1);
      return l & 2 ? lanes + source : source;
    });
  };
  for (int64_t i = 0; i < lanes; i += 4) {
    MutableArrayRef<Value> r = rows.slice(i, 4);
    Value low01 = unpack(r[0], r[1], 0), high01 = unpack(r[0], r[1], 1);
    Value low23 = unpack(r[2], r[3], 0), high23 = unpack(r[2], r[3], 1);
    r[0] = pairs(low01, low23, 0);
    r[1] = pairs(low01, low23, 1);
    r[2] = pairs(high01, high23, 0);
    r[3] = pairs(high01, high23, 1);
  }
}

/// Lanes x lanes elements, row j in vector j.
static void transpose(LoopBuilder &loops, MutableArrayRef<Value> rows,
                      int64_t elementBytes) {
  int64_t done = 1;
  if (elementBytes == 4 && loops.lanes >= 4) {
    transposeFours(loops, rows);
    done = 4;
  }
  for (int64_t s = done; s < loops.lanes; s *= 2)
    exchangeBlocks(loops, rows, s);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

void PanelPacker::packLanesAlongReduced(Value panel, const ReducedBlock &block,
                                        int64_t vectors, int64_t count) {
  PointEvaluator &eval = loops.eval;
  int64_t lanes = loops.lanes, width = vectors * lanes;
  Value operand = c.laneOperand->get();
  Point point = loops.kernel.operandPoint(*c.laneOperand);
  Type type = VectorType::get(lanes, c.element);
  auto packSquare = [&](int64_t v, int64_t depthCount) {
    SmallVector<Value> rows;
    for (int64_t j = v * lanes; j < (v + 1) * lanes; ++j)
      rows.push_back(
          j < count ? eval.evaluateVector(operand, shiftPoint(point, c.lane, j))
                    : arith::ConstantOp::create(
                          loops.b, cast<TypedAttr>(loops.b.getZeroAttr(type))));
    transpose(loops, rows, c.elementBytes());
    Value at = scale(loops, depth(block), width);
    for (int64_t i = 0; i < depthCount; ++i)
      eval.storeAt(rows[i], panel, at, i * width + v * lanes);
  };
  nest(block, ArrayRef(c.reduced).drop_back(), {}, [&](ValueRange) {
    loops.steps(lastRange(block), lanes, [&](Value begin, int64_t depthCount) {
      eval.bind(c.reduced.back(), begin);
      eval.setLane(c.reduced.back());
      eval.setActive(depthCount);
      for (int64_t v = 0; v < vectors; ++v)
        packSquare(v, depthCount);
    });
    return SmallVector<Value>();
  });
}

void PanelPacker::packLanes(Value panel, const ReducedBlock &block,
                            int64_t vectors, int64_t count) {
  if (c.packLanes == Packing::AlongReduced)
    return packLanesAlongReduced(panel, block, vectors, count);
  PointEvaluator &eval = loops.eval;
  int64_t lanes = loops.lanes, width = vectors * lanes;
  Point point = loops.kernel.operandPoint(*c.laneOperand);
  nest(block, c.reduced, {}, [&](ValueRange) {
    Value at = c.reduced.empty() ? Value() : scale(loops, depth(block), width);
    for (int64_t v = 0; v < vectors; ++v) {
      eval.setActive(std::min(lanes, count - v * lanes));
      Value value = eval.evaluateVector(c.laneOperand->get(),
                                        shiftPoint(point, c.lane, v * lanes));
      eval.storeAt(value, panel, at, v * lanes);
    }
    return SmallVector<Value>();
  });
}

void PanelPacker::packRows(Value panel, const ReducedBlock &block,
                           const LoopRange &outerRows, const LoopRange &rows) {
  PointEvaluator &eval = loops.eval;
  int64_t lanes = loops.lanes;
  bool alongReduced = c.packRows == Packing::AlongReduced;
  int64_t stride = packedStride(alongReduced ? c.blockDepth : c.blockRows(),
                                lanes, c.elementBytes());
  Point point = loops.kernel.operandPoint(*c.rowOperand);
  auto packVector = [&] {
    Value major = alongReduced ? rowNumber(outerRows, rows) : depth(block);
    Value minor = alongReduced ? depth(block) : rowNumber(outerRows, rows);
    Value at =
        arith::AddIOp::create(loops.b, scale(loops, major, stride), minor);
    eval.storeAt(eval.evaluateVector(c.rowOperand->get(), point), panel, at);
  };
  auto along = [&](unsigned dim, const LoopRange &range) {
    loops.steps(range, lanes, [&](Value begin, int64_t count) {
      eval.bind(dim, begin);
      eval.setLane(dim);
      eval.setActive(count);
      packVector();
    });
    return SmallVector<Value>();
  };
  // A whole vector behind the last element is written over by what follows.
  outerRowLoop(outerRows, [&] {
    if (!alongReduced) {
      nest(block, c.reduced, {},
           [&](ValueRange) { return along(c.row, rows); });
      return;
    }
    loops.loop(rows.begin, rows.end, 1, [&](Value row) {
      eval.bind(c.row, row);
      nest(block, ArrayRef(c.reduced).drop_back(), {}, [&](ValueRange) {
        return along(c.reduced.back(), lastRange(block));
      });
    });
  });
}
