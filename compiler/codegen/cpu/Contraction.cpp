// Recognizes contractions and chooses their tiles, blocks and copies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mg;

/// Scratch of a call: packed rows, packed lanes, partial results.
static constexpr int64_t kRowBytes = 128 * 1024;
static constexpr int64_t kPanelBytes = 32 * 1024;
static constexpr int64_t kPartialBytes = 64 * 1024;
/// Rows that are read in place should stay in the second-level cache.
static constexpr int64_t kRowsInPlaceBytes = 256 * 1024;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// acc + a·b, in any order of operands.
static bool isSumOfProducts(linalg::GenericOp root) {
  if (root.getNumDpsInputs() != 2 || root.getNumResults() != 1)
    return false;
  Block *body = root.getBody();
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || body->getOperations().size() != 3)
    return false;
  Value accumulator = body->getArgument(2);
  if (add.getLhs() != accumulator && add.getRhs() != accumulator)
    return false;
  Value product = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
  auto multiply = product.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return false;
  Value a = body->getArgument(0), b = body->getArgument(1);
  return (multiply.getLhs() == a && multiply.getRhs() == b) ||
         (multiply.getLhs() == b && multiply.getRhs() == a);
}

static bool dependsOn(const Point &point, unsigned dim) {
  return llvm::any_of(
      point, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
}

static bool splitLoops(const Kernel &kernel, Contraction &c) {
  linalg::GenericOp root = kernel.root;
  c.lane = kernel.parallelLoops.back();
  c.rowOperand = root.getDpsInputOperand(0);
  c.laneOperand = root.getDpsInputOperand(1);
  if (dependsOn(kernel.operandPoint(*c.rowOperand), c.lane))
    std::swap(c.rowOperand, c.laneOperand);
  Point rows = kernel.operandPoint(*c.rowOperand);
  Point lanes = kernel.operandPoint(*c.laneOperand);
  if (dependsOn(rows, c.lane) || !dependsOn(lanes, c.lane))
    return false;
  for (unsigned loop : ArrayRef(kernel.parallelLoops).drop_back()) {
    bool isRow = dependsOn(rows, loop) && !dependsOn(lanes, loop);
    (isRow ? c.outerRows : c.outer).push_back(loop);
  }
  if (c.outerRows.empty())
    return false;
  // Tiles run over the innermost row loop, unless it is too short for one.
  auto best = std::prev(c.outerRows.end());
  if (kernel.size(*best) < 4)
    best = std::max_element(c.outerRows.begin(), c.outerRows.end(),
                            [&](unsigned a, unsigned b) {
                              return kernel.size(a) < kernel.size(b);
                            });
  c.row = *best;
  c.outerRows.erase(best);
  c.reduced = kernel.reductionLoops;
  return true;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static Trace traceOperand(const Kernel &kernel, OpOperand &operand) {
  Trace trace;
  traceValue(kernel, operand.get(), kernel.operandPoint(operand), trace);
  return trace;
}

/// Loads a vector along `dim` takes.
static int64_t loadsAlong(const Kernel &kernel, const Trace &trace,
                          unsigned dim, int64_t lanes) {
  int64_t loads = 0;
  for (const Access &access : trace.accesses) {
    auto form = getLinearForm(access.element, kernel.dims.size());
    bool isVector =
        form && form->coefficients[dim] <= 1 && form->coefficients[dim] >= 0;
    loads += isVector ? 1 : lanes;
  }
  return loads;
}

static Packing cheaperPacking(const Kernel &kernel, const Contraction &c,
                              const Trace &trace, unsigned resultDim,
                              int64_t lanes) {
  if (c.reduced.empty())
    return Packing::AlongResult;
  int64_t along = loadsAlong(kernel, trace, resultDim, lanes);
  int64_t across = loadsAlong(kernel, trace, c.reduced.back(), lanes);
  return across < along ? Packing::AlongReduced : Packing::AlongResult;
}

/// Whether stepping through k touches so few sets of an 8-way cache of 64
/// sets that lines are gone before the next tile reads them again.
static bool thrashes(const Kernel &kernel, const Contraction &c,
                     const Trace &trace) {
  if (c.reduced.empty())
    return false;
  auto form = getLinearForm(trace.accesses[0].element, kernel.dims.size());
  if (!form)
    return false;
  int64_t stride =
      std::abs(form->coefficients[c.reduced.back()]) * c.elementBytes();
  if (stride < 64)
    return false;
  int64_t sets = 4096 / std::gcd<int64_t>(4096, stride);
  return c.blockDepth > 4 * sets;
}

static void choosePacking(const Kernel &kernel, Contraction &c, int64_t lanes) {
  Trace rows = traceOperand(kernel, *c.rowOperand);
  bool isComputed = !isa<BlockArgument>(c.rowOperand->get());
  bool isReused = kernel.size(c.lane) > c.tile.vectors * lanes;
  if (isComputed || (isReused && thrashes(kernel, c, rows)))
    c.packRows = cheaperPacking(kernel, c, rows, c.row, lanes);
  Trace vectors = traceOperand(kernel, *c.laneOperand);
  bool inPlace = isa<BlockArgument>(c.laneOperand->get()) &&
                 loadsAlong(kernel, vectors, c.lane, lanes) == 1;
  int64_t rowCount = kernel.points(c.outerRows) * kernel.size(c.row);
  if (!inPlace || rowCount > c.tile.rows)
    c.packLanes = cheaperPacking(kernel, c, vectors, c.lane, lanes);
}

int64_t mlir::mg::packedStride(int64_t size, int64_t lanes,
                               int64_t elementBytes) {
  int64_t stride = roundUp(size, lanes) + lanes;
  if (stride * elementBytes % 1024 == 0)
    stride += lanes;
  return stride;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static bool isConstant(Value tensor) {
  return tensor.getDefiningOp<arith::ConstantOp>() ||
         tensor.getDefiningOp<linalg::FillOp>();
}

/// Cuts k so that a panel of lanes stays in the first-level cache.
static void chooseReducedBlock(const Kernel &kernel, Contraction &c,
                               int64_t lanes) {
  int64_t depth = kernel.points(c.reduced);
  c.blockDepth = depth;
  if (c.reduced.empty())
    return;
  int64_t size = kernel.size(c.reduced[0]);
  c.reducedBlock = size;
  int64_t target = kPanelBytes / (c.tile.vectors * lanes * c.elementBytes());
  if (depth <= target * 3 / 2 ||
      !isConstant(kernel.root.getDpsInitOperand(0)->get()))
    return;
  int64_t inner = depth / size;
  int64_t granule = inner == 1 ? lanes : 1;
  int64_t blocks = ceilDiv(depth, target);
  c.reducedBlock = std::min(size, roundUp(ceilDiv(size, blocks), granule));
  c.reducedBlocks = ceilDiv(size, c.reducedBlock);
  c.blockDepth = c.reducedBlock * inner;
}

/// Enough blocks for 64 workers, none shorter than kBlockCycles nor ten times
/// longer.
static int64_t wantedBlocks(double cycles) {
  double shortest = cycles / kBlockCycles;
  double longest = cycles / (10 * kBlockCycles);
  return std::max<int64_t>(1, std::max(longest, std::min(64.0, shortest)));
}

static void chooseRowBlock(const Kernel &kernel, Contraction &c,
                           int64_t pieces) {
  int64_t bytes = c.packRows == Packing::None ? kRowsInPlaceBytes : kRowBytes;
  int64_t most = bytes / (c.blockDepth * c.elementBytes());
  int64_t size = kernel.size(c.row), outerRows = kernel.points(c.outerRows);
  c.rowsPerBlock = size;
  c.outerRowsPerBlock = 1;
  if (c.outerRows.empty()) {
    int64_t blocks =
        std::max(pieces, ceilDiv(size, std::max<int64_t>(most, 1)));
    c.rowsPerBlock =
        std::min(size, roundUp(ceilDiv(size, blocks), c.tile.rows));
    return;
  }
  int64_t atOnce = std::max<int64_t>(1, most / size);
  int64_t blocks = std::max(pieces, ceilDiv(outerRows, atOnce));
  c.outerRowsPerBlock = ceilDiv(outerRows, std::min(blocks, outerRows));
}

static void chooseBlocks(const Kernel &kernel, Contraction &c, int64_t lanes) {
  int64_t outer = kernel.points(c.outer);
  int64_t outerRows = kernel.points(c.outerRows);
  int64_t n = kernel.size(c.lane), width = c.tile.vectors * lanes;
  double cycles = double(outer) * outerRows *
                  ceilDiv(kernel.size(c.row), c.tile.rows) * ceilDiv(n, width) *
                  std::max<int64_t>(kernel.points(c.reduced), 1) *
                  tileStepCycles(c.tile.rows, c.tile.vectors);
  int64_t wanted = wantedBlocks(cycles);
  c.unitsPerBlock = std::max<int64_t>(1, outer / wanted);
  chooseRowBlock(kernel, c, 1);
  auto rowBlocks = [&] {
    return ceilDiv(outerRows, c.outerRowsPerBlock) *
           ceilDiv(kernel.size(c.row), c.rowsPerBlock);
  };
  int64_t units = ceilDiv(outer, c.unitsPerBlock);
  int64_t panels = ceilDiv(n, width);
  int64_t laneBlocks = std::min(panels, ceilDiv(wanted, units * rowBlocks()));
  if (units * rowBlocks() * laneBlocks < wanted)
    chooseRowBlock(kernel, c, ceilDiv(wanted, units * laneBlocks));
  int64_t panelsPerBlock = ceilDiv(panels, laneBlocks);
  if (c.reducedBlocks > 1)
    panelsPerBlock = std::clamp<int64_t>(
        kPartialBytes / (c.blockRows() * width * c.elementBytes()), 1,
        panelsPerBlock);
  c.lanesPerBlock = std::min(n, panelsPerBlock * width);
}

std::optional<Contraction> mlir::mg::matchContraction(const Kernel &kernel,
                                                      const CpuModel &model,
                                                      int64_t lanes) {
  Contraction c;
  if (!isSumOfProducts(kernel.root) || kernel.parallelLoops.empty() ||
      !splitLoops(kernel, c))
    return std::nullopt;
  c.element = getElementTypeOrSelf(kernel.root.getResult(0).getType());
  int64_t rows = kernel.size(c.row), n = kernel.size(c.lane);
  int64_t depth = kernel.points(c.reduced);
  if (rows == 0 || n == 0 || depth == 0 || kernel.points(c.outer) == 0)
    return std::nullopt;
  CpuModel wide = model;
  wide.vectorRegisters /=
      std::max<int64_t>(1, lanes * c.elementBytes() / model.vectorBytes);
  c.tile = chooseTile(rows, n, depth, lanes, wide);
  chooseReducedBlock(kernel, c, lanes);
  choosePacking(kernel, c, lanes);
  // Turning k into lanes costs more than it saves when few rows use it.
  if (c.packLanes == Packing::AlongReduced &&
      kernel.points(c.outerRows) * rows < 4)
    return std::nullopt;
  chooseBlocks(kernel, c, lanes);
  return c;
}
