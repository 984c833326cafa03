// Prologue, blocks, loops with masked tails.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mg;

static Type elementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Loads the addresses of all arrays at the start of `function`.
static SmallVector<Value> loadBindings(ImplicitLocOpBuilder &b,
                                       func::FuncOp function, size_t count) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> bindings;
  for (size_t i = 0; i < count; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, pointer, pointer, function.getArgument(0),
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    bindings.push_back(LLVM::LoadOp::create(b, pointer, slot));
  }
  return bindings;
}

LoopBuilder::LoopBuilder(ImplicitLocOpBuilder &builder, const Kernel &kernel,
                         const CpuModel &model, func::FuncOp function)
    : b(builder), kernel(kernel), model(model),
      lanes(chooseLanes(kernel, model)),
      bindings(
          loadBindings(builder, function,
                       kernel.func.getNumArguments() + kernel.results.size())),
      eval(builder, kernel, bindings, lanes) {
  Value x = function.getArgument(2);
  auto extend = arith::ExtUIOp::create(b, b.getI64Type(), x);
  entryEnd = extend;
  block = extend;
}

Value LoopBuilder::scratch(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryEnd);
  if (element.isInteger(1))
    element = b.getI8Type();
  Value size = arith::ConstantOp::create(b, b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                element, size, 64);
}

void LoopBuilder::loop(Value begin, Value end, int64_t step,
                       function_ref<void(Value)> body) {
  loopCarrying(begin, end, step, {}, [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

SmallVector<Value> LoopBuilder::loopCarrying(
    Value begin, Value end, int64_t step, ValueRange initial,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto forOp =
      scf::ForOp::create(b, begin, end, eval.constantI64(step), initial);
  OpBuilder::InsertionGuard guard(b);
  Block *block = forOp.getBody();
  if (initial.empty() && !block->empty())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  eval.enter(forOp);
  SmallVector<Value> next =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  eval.leave();
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(forOp.getResults());
}

void LoopBuilder::when(Value condition, function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  eval.enter(ifOp);
  body();
  eval.leave();
}

void LoopBuilder::steps(const LoopRange &range, int64_t step,
                        function_ref<void(Value, int64_t)> body) {
  int64_t tail = range.extent % step;
  int64_t full = range.extent - tail;
  auto inScope = [&](Value begin, int64_t count) {
    // A marker that hoisted values can be placed before.
    auto marker = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
    eval.enter(marker);
    body(begin, count);
    eval.leave();
  };
  if (full == step && range.whole) {
    inScope(eval.constantI64(0), step);
  } else if (full > 0) {
    Value end = range.end;
    if (range.whole)
      end = eval.constantI64(full);
    else if (tail)
      end = arith::MinSIOp::create(b, end, eval.constantI64(full));
    loop(range.begin, end, step, [&](Value iv) { body(iv, step); });
  }
  if (tail == 0)
    return;
  if (range.whole) {
    inScope(eval.constantI64(full), tail);
    return;
  }
  Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, range.end,
                                     eval.constantI64(range.extent));
  when(last, [&] { body(eval.constantI64(full), tail); });
}

LoopRange LoopBuilder::piece(Value index, int64_t extent, int64_t size) {
  if (size >= extent)
    return {eval.constantI64(0), eval.constantI64(extent), extent, true};
  Value begin = arith::MulIOp::create(b, index, eval.constantI64(size));
  Value end = arith::AddIOp::create(b, begin, eval.constantI64(size));
  if (extent % size != 0)
    end = arith::MinSIOp::create(b, end, eval.constantI64(extent));
  return {begin, end, extent, false};
}

void LoopBuilder::bindDigits(Value number, ArrayRef<unsigned> loops) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (i == 0) {
      eval.bind(loops[i], number);
      return;
    }
    Value size = eval.constantI64(kernel.size(loops[i]));
    eval.bind(loops[i], arith::RemUIOp::create(b, number, size));
    number = arith::DivUIOp::create(b, number, size);
  }
}

void LoopBuilder::storeResults(const Point &point) {
  // All values first: a result may share memory with what another reads.
  SmallVector<Value> values;
  for (Value result : kernel.results)
    values.push_back(eval.evaluate(result, point));
  size_t first = kernel.func.getNumArguments();
  for (auto [i, result] : llvm::enumerate(kernel.results)) {
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    eval.store(values[i], bindings[first + i],
               linearize(shape, point, b.getContext()));
  }
}

std::pair<LoopRange, LoopRange>
LoopBuilder::blockRanges(const Partition &partition, int64_t rows,
                         int64_t columns) {
  Value rowBlock = block, columnBlock = block;
  if (partition.rowBlocks > 1 && partition.columnBlocks > 1) {
    Value count = eval.constantI64(partition.columnBlocks);
    rowBlock = arith::DivUIOp::create(b, block, count);
    columnBlock = arith::RemUIOp::create(b, block, count);
  }
  return {piece(rowBlock, rows, partition.rowsPerBlock),
          piece(columnBlock, columns, partition.columnsPerBlock)};
}

void LoopBuilder::rowLoop(const LoopRange &rows, ArrayRef<unsigned> loops,
                          function_ref<void()> body) {
  if (loops.empty()) {
    body();
    return;
  }
  loop(rows.begin, rows.end, 1, [&](Value row) {
    bindDigits(row, loops);
    body();
  });
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Point mlir::mg::shiftPoint(const Point &point, unsigned dim, int64_t offset) {
  if (offset == 0)
    return point;
  Point shifted;
  for (AffineExpr expr : point) {
    AffineExpr moved = getAffineDimExpr(dim, expr.getContext()) + offset;
    shifted.push_back(
        expr.replace(getAffineDimExpr(dim, expr.getContext()), moved));
  }
  return shifted;
}

Partition mlir::mg::choosePartition(int64_t rows, int64_t columns,
                                    int64_t granule, double cycles) {
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  rows = std::max<int64_t>(rows, 1);
  columns = std::max<int64_t>(columns, 1);
  int64_t wanted = std::max<int64_t>(1, cycles / kBlockCycles);
  Partition partition{rows, columns, 1, 1};
  if (rows >= wanted) {
    partition.rowsPerBlock = ceilDiv(rows, wanted);
  } else {
    partition.rowsPerBlock = 1;
    int64_t pieces = ceilDiv(wanted, rows);
    partition.columnsPerBlock =
        std::min(columns, ceilDiv(ceilDiv(columns, pieces), granule) * granule);
  }
  partition.rowBlocks = ceilDiv(rows, partition.rowsPerBlock);
  partition.columnBlocks = ceilDiv(columns, partition.columnsPerBlock);
  return partition;
}

int64_t mlir::mg::chooseLanes(const Kernel &kernel, const CpuModel &model) {
  // 4-byte values decide if there are any; 8-byte ones then take two
  // registers, bytes a quarter.
  bool has[9] = {};
  auto note = [&](Type type) {
    if (type.isIntOrFloat())
      has[std::max(1u, type.getIntOrFloatBitWidth() / 8)] = true;
  };
  for (Type type : kernel.func.getArgumentTypes())
    note(cast<RankedTensorType>(type).getElementType());
  for (Value result : kernel.results)
    note(elementType(result));
  kernel.func.walk([&](linalg::GenericOp generic) {
    for (Operation &op : *generic.getBody())
      for (Type type : op.getResultTypes())
        note(type);
  });
  int64_t bytes = has[4] ? 4 : has[8] ? 8 : has[2] ? 2 : 1;
  return model.vectorBytes / bytes;
}

/// Library calls and divisions cost more than an addition.
static double opCycles(Operation &op) {
  if (isa<linalg::YieldOp, arith::ConstantOp, linalg::IndexOp>(op))
    return 0;
  bool isWide = op.getNumResults() && op.getResult(0).getType().isF64();
  if (isa<math::MathDialect>(op.getDialect()))
    return isWide ? 160 : 12;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp>(op))
    return 5;
  return 0.5;
}

double mlir::mg::pointCycles(const Kernel &kernel, const Trace &trace,
                             int64_t lanes, int64_t vectorBytes) {
  double vectorCycles = 0;
  kernel.func.walk([&](linalg::GenericOp generic) {
    for (Operation &op : *generic.getBody())
      vectorCycles += opCycles(op);
  });
  double bytes = 0;
  for (Value result : kernel.results)
    bytes += std::max(1u, elementType(result).getIntOrFloatBitWidth() / 8);
  for (const Access &access : trace.accesses)
    if (access.array)
      bytes +=
          std::max(1u, elementType(access.array).getIntOrFloatBitWidth() / 8);
  return vectorCycles / lanes + bytes / 16;
}
