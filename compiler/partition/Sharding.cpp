// One forward walk. A split parallel letter splits the result, a split reduced
// letter makes it partial along the same axes; partial passes through ops that
// are linear in it, and every other use needs the whole value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/partition/Sharding.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::mg {

StringRef stringifyKind(LetterKind kind) {
  switch (kind) {
  case LetterKind::Sum:
    return "sum";
  case LetterKind::Prod:
    return "product";
  case LetterKind::Max:
    return "max";
  case LetterKind::Min:
    return "min";
  default:
    return "none";
  }
}

bool passesPartial(Operation *op, unsigned mask, LetterKind kind) {
  auto math = dyn_cast<MathOp>(op);
  if (!math)
    return false;
  return math.onlyMoves() || (kind == LetterKind::Sum && math.isLinearIn(mask));
}

static constexpr int64_t kMaxGridRank = 8; // far below the bits of GridAxes

static StringRef textOf(func::FuncOp function, unsigned argument,
                        StringRef name) {
  auto attr = function.getArgAttrOfType<StringAttr>(argument, name);
  return attr ? attr.getValue() : StringRef();
}

static std::optional<LetterKind> symbolizeKind(StringRef text) {
  return llvm::StringSwitch<std::optional<LetterKind>>(text)
      .Case("sum", LetterKind::Sum)
      .Case("product", LetterKind::Prod)
      .Case("max", LetterKind::Max)
      .Case("min", LetterKind::Min)
      .Default(std::nullopt);
}

/// A list of grid axes such as [0, 1]; nothing if it is none or an axis is
/// outside the grid.
static std::optional<GridAxes> gridAxes(Attribute attr, int64_t rank) {
  auto list = dyn_cast_or_null<ArrayAttr>(attr);
  if (!list)
    return std::nullopt;
  GridAxes axes = 0;
  for (Attribute entry : list) {
    auto axis = dyn_cast<IntegerAttr>(entry);
    if (!axis || axis.getInt() < 0 || axis.getInt() >= rank)
      return std::nullopt;
    axes |= 1u << axis.getInt();
  }
  return axes;
}

static LogicalResult readHint(func::FuncOp function, unsigned number,
                              int64_t rank, Sharding &sharding) {
  auto fail = [&](const Twine &message) {
    return emitError(function.getArgument(number).getLoc()) << message;
  };
  if (Attribute hint = function.getArgAttr(number, "mg.sharding")) {
    auto dims = dyn_cast<ArrayAttr>(hint);
    if (!dims || dims.size() > sharding.split.size())
      return fail("mg.sharding needs a list of grid axes for each of " +
                  Twine(sharding.split.size()) +
                  " dimensions, such as [[0], []]");
    GridAxes used = 0;
    for (auto [dim, attr] : llvm::enumerate(dims)) {
      std::optional<GridAxes> axes = gridAxes(attr, rank);
      if (!axes)
        return fail("mg.sharding of dimension " + Twine(dim) +
                    " needs a list of grid axes, each from 0 to " +
                    Twine(rank - 1));
      if (used & *axes)
        return fail("mg.sharding splits two dimensions along the same axis");
      used |= sharding.split[dim] = *axes;
    }
  }
  StringRef partial = textOf(function, number, "mg.partial");
  if (partial.empty())
    return success();
  std::optional<LetterKind> kind = symbolizeKind(partial);
  if (!kind)
    return fail("mg.partial is '" + partial +
                "', expected sum, product, max or min");
  sharding.kind = *kind;
  sharding.partial = (1u << rank) - 1;
  if (Attribute axes = function.getArgAttr(number, "mg.partial_axes")) {
    std::optional<GridAxes> found = gridAxes(axes, rank);
    if (!found)
      return fail("mg.partial_axes needs a list of grid axes, each from 0 to " +
                  Twine(rank - 1));
    sharding.partial = *found;
  }
  return success();
}

LogicalResult ShardingAnalysis::seed(func::FuncOp function,
                                     BlockArgument argument) {
  if (!isa<RankedTensorType>(argument.getType()))
    return success();
  unsigned number = argument.getArgNumber();
  Sharding &sharding = shardings[argument] = Sharding::replicated(argument);
  StringRef role = textOf(function, number, "mg.role");
  auto entry = function->getAttrOfType<StringAttr>("mg.entry");
  bool update = entry && entry.getValue() == "update";
  if (role == "input" && !sharding.split.empty())
    sharding.split[0] = 1;
  if (update && (role == "gradient" || role == "metric_window"))
    sharding.partial = 1;
  if (update && role == "check_window") {
    sharding.partial = 1;
    sharding.kind = LetterKind::Max;
  }
  return readHint(function, number, rank, sharding);
}

LogicalResult ShardingAnalysis::run(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto grid = module ? module.lookupSymbol<shard::GridOp>("devices")
                         : shard::GridOp())
    rank = grid.getRank();
  if (rank < 1 || rank > kMaxGridRank)
    return function.emitOpError("is placed on a grid of ")
           << rank << " axes, expected 1 to " << kMaxGridRank;
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("has several blocks: shardings are known of "
                                "straight code only");
  for (BlockArgument argument : function.getArguments())
    if (failed(seed(function, argument)))
      return failure();
  for (Operation &op : function.front()) {
    if (isa<func::ReturnOp>(op))
      visitReturn(function, &op);
    else if (failed(visit(&op)))
      return failure();
  }
  return success();
}

/// An entry's accumulators hold each device's own sums, so accumulate and
/// evaluate may return partial values; all else is whole.
void ShardingAnalysis::visitReturn(func::FuncOp function, Operation *op) {
  auto entry = function->getAttrOfType<StringAttr>("mg.entry");
  for (OpOperand &operand : op->getOpOperands()) {
    StringRef role;
    if (auto attr = function.getResultAttrOfType<StringAttr>(
            operand.getOperandNumber(), "mg.role"))
      role = attr.getValue();
    bool own = entry && entry.getValue() != "update" &&
               (role == "gradient" || role.starts_with("metric") ||
                role.starts_with("check"));
    if (shardings[operand.get()].partial && !own)
      wholeUses.push_back(&operand);
  }
}

static std::optional<unsigned> letterAt(AffineMap map, size_t dim) {
  if (dim >= map.getNumResults())
    return std::nullopt;
  auto letter = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return letter ? std::optional<unsigned>(letter.getPosition()) : std::nullopt;
}

/// A letter that one operand has split and another whole would pair a part with
/// what belongs to other parts; only a value that is the same everywhere fits.
static LogicalResult checkAgreement(Operation *op, unsigned number,
                                    const Sharding &own, AffineMap map,
                                    ArrayRef<GridAxes> split) {
  DenseElementsAttr elements;
  if (matchPattern(op->getOperand(number), m_Constant(&elements)) &&
      elements.isSplat())
    return success();
  for (auto [dim, axes] : llvm::enumerate(own.split)) {
    std::optional<unsigned> letter = letterAt(map, dim);
    if (letter && split[*letter] != axes)
      return op->emitOpError()
             << "operand #" << number << " has dimension " << dim
             << (axes ? " split along other axes than" : " whole, which")
             << " another operand"
             << (axes ? "" : " has split over the devices")
             << ": give both the same mg.sharding";
  }
  return success();
}

/// Devices along an axis that splits two letters hold only the diagonal blocks.
static LogicalResult checkDiagonal(Operation *op, ArrayRef<GridAxes> split) {
  GridAxes used = 0;
  for (GridAxes axes : split) {
    if (used & axes)
      return op->emitOpError("has operands whose different dimensions are "
                             "split along the same grid axis: each device "
                             "would get only a diagonal block of the result");
    used |= axes;
  }
  return success();
}

/// Positions count from the start of the whole dimension that they point into.
static LogicalResult checkPointedInto(MathOp op, const Bounds &bounds,
                                      const Sharding &table) {
  if (!table.split[bounds.dim])
    return success();
  return op->emitOpError() << "needs dimension " << bounds.dim
                           << " of operand #" << bounds.table
                           << " whole, since operand #" << bounds.operand
                           << " holds positions in it, but it is split over "
                              "the devices";
}

static std::optional<LetterKind> kindOf(shard::ReductionKind kind) {
  return symbolizeKind(shard::stringifyReductionKind(kind));
}

LogicalResult ShardingAnalysis::visitReduce(Operation *op) {
  auto reduce = cast<shard::AllReduceOp>(op);
  if (reduce.getGrid() != "devices")
    return op->emitOpError("reduces over the grid @")
           << reduce.getGrid() << ", expected @devices";
  GridAxes axes = 0;
  for (int16_t axis : reduce.getGridAxes())
    axes |= 1u << axis;
  if (!axes) // upstream: all of them
    axes = (1u << rank) - 1;
  Sharding sharding = shardings[reduce.getInput()];
  if ((sharding.partial & axes) != axes)
    return op->emitOpError()
           << "reduces a value that every device has whole already: the "
              "result would count it once a device";
  if (kindOf(reduce.getReduction()) != sharding.kind)
    return op->emitOpError()
           << "reduces by " << stringifyReductionKind(reduce.getReduction())
           << " what is a partial " << stringifyKind(sharding.kind);
  sharding.partial &= ~axes;
  shardings[reduce.getResult()] = sharding;
  return success();
}

LogicalResult ShardingAnalysis::visit(Operation *op) {
  if (isa<shard::AllReduceOp>(op))
    return visitReduce(op);
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      shardings[result] = Sharding::replicated(result);
  if (auto math = dyn_cast<MathOp>(op))
    return visitMath(math);
  for (OpOperand &operand : op->getOpOperands()) {
    const Sharding &sharding = shardings[operand.get()];
    if (llvm::any_of(sharding.split, [](GridAxes axes) { return axes; }))
      return op->emitOpError()
             << "needs operand #" << operand.getOperandNumber()
             << " whole, but it is split over the devices";
    if (sharding.partial)
      wholeUses.push_back(&operand);
  }
  return success();
}

/// What the operands of an op are partial in.
namespace {
struct PartialOperands {
  unsigned mask = 0; // bit i: operand i is partial …
  GridAxes axes = 0; // … along these axes
  LetterKind kind = LetterKind::Sum;
  bool alike = true; // all of one kind and the same axes

  void add(unsigned operand, const Sharding &sharding) {
    alike &= !mask || (axes == sharding.partial && kind == sharding.kind);
    mask |= 1u << operand;
    axes = sharding.partial;
    kind = sharding.kind;
  }
};
} // namespace

LogicalResult ShardingAnalysis::visitMath(MathOp op) {
  if (std::optional<Bounds> bounds = op.getBounds())
    if (failed(checkPointedInto(op, *bounds,
                                shardings[op->getOperand(bounds->table)])))
      return failure();
  IndexSpec spec = op.getIndexSpec();
  SmallVector<GridAxes> split(spec.letters.size(), 0);
  PartialOperands partial;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Sharding &sharding = shardings[operand];
    for (auto [dim, axes] : llvm::enumerate(sharding.split))
      if (std::optional<unsigned> letter = letterAt(spec.operands[i], dim))
        split[*letter] |= axes;
    if (sharding.partial)
      partial.add(i, sharding);
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(
            checkAgreement(op, i, shardings[operand], spec.operands[i], split)))
      return failure();
  if (failed(checkDiagonal(op, split)))
    return failure();

  Sharding &result = shardings[op->getResult(0)];
  GridAxes splitAxes = 0;
  for (auto [letter, axes] : llvm::enumerate(split)) {
    splitAxes |= axes;
    if (axes && spec.kinds[letter] == LetterKind::Opaque)
      return op->emitOpError()
             << "needs a whole dimension that is split over the devices";
    if (!axes || !spec.isReduction(letter))
      continue;
    result.partial |= axes;
    result.kind = spec.kinds[letter];
  }
  for (size_t dim = 0; dim < result.split.size(); ++dim)
    if (std::optional<unsigned> letter = letterAt(spec.results.front(), dim))
      result.split[dim] = split[*letter];
  if (!partial.mask)
    return success();
  bool sameReduction = !result.partial || result.kind == partial.kind;
  if (partial.alike && sameReduction && !(splitAxes & partial.axes) &&
      passesPartial(op, partial.mask, partial.kind)) {
    result.partial |= partial.axes;
    result.kind = partial.kind;
    return success();
  }
  for (OpOperand &operand : op->getOpOperands())
    if (partial.mask >> operand.getOperandNumber() & 1)
      wholeUses.push_back(&operand);
  return success();
}

} // namespace mlir::mg
