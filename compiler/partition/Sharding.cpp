// One forward walk. A split parallel letter splits the result, a split reduced
// letter makes it partial; partial passes through ops that are linear in it,
// and every other use needs the whole value.
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

Sharding ShardingAnalysis::seed(func::FuncOp function, BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  Sharding sharding = Sharding::replicated(argument);
  if (auto axes = function.getArgAttrOfType<ArrayAttr>(number, "mg.sharding"))
    for (auto [dim, names] : llvm::enumerate(axes))
      if (dim < sharding.split.size() && isa<ArrayAttr>(names))
        sharding.split[dim] = !cast<ArrayAttr>(names).empty();
  StringRef role, partial;
  if (auto attr = function.getArgAttrOfType<StringAttr>(number, "mg.role"))
    role = attr.getValue();
  if (auto attr = function.getArgAttrOfType<StringAttr>(number, "mg.partial"))
    partial = attr.getValue();
  bool update =
      function->getAttrOfType<StringAttr>("mg.entry") &&
      function->getAttrOfType<StringAttr>("mg.entry").getValue() == "update";
  if (role == "input" && !sharding.split.empty())
    sharding.split[0] = true;
  if (partial == "sum" ||
      (update && (role == "gradient" || role == "metric_window")))
    sharding.partial = LetterKind::Sum;
  if (partial == "max" || (update && role == "check_window"))
    sharding.partial = LetterKind::Max;
  if (partial == "min")
    sharding.partial = LetterKind::Min;
  return sharding;
}

LogicalResult ShardingAnalysis::run(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    shardings[argument] = seed(function, argument);
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

namespace {
/// What the operands of an op say about its letters.
struct OperandShardings {
  SmallVector<bool> split;        // of each letter: some operand has it split
  unsigned partial = 0;           // bit i: operand i is partial …
  std::optional<LetterKind> kind; // … of this kind
  bool oneKind = true;            // … all of them
};
} // namespace

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
                                    ArrayRef<bool> split) {
  DenseElementsAttr elements;
  if (matchPattern(op->getOperand(number), m_Constant(&elements)) &&
      elements.isSplat())
    return success();
  for (auto [dim, isSplit] : llvm::enumerate(own.split)) {
    std::optional<unsigned> letter = letterAt(map, dim);
    if (letter && split[*letter] && !isSplit)
      return op->emitOpError()
             << "operand #" << number << " has dimension " << dim
             << " whole, which another operand has split over the devices: "
                "give both the same mg.sharding";
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

LogicalResult ShardingAnalysis::visitReduce(Operation *op) {
  if (!shardings[op->getOperand(0)].partial)
    return op->emitOpError()
           << "reduces a value that every device has whole already: the "
              "result would count it once a device";
  shardings[op->getResult(0)] = shardings[op->getOperand(0)];
  shardings[op->getResult(0)].partial = std::nullopt;
  return success();
}

LogicalResult ShardingAnalysis::visit(Operation *op) {
  if (isa<shard::AllReduceOp>(op))
    return visitReduce(op);
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      shardings[result] = Sharding::replicated(result);
  auto math = dyn_cast<MathOp>(op);
  if (!math)
    return success();
  if (std::optional<Bounds> bounds = math.getBounds())
    if (failed(checkPointedInto(math, *bounds,
                                shardings[op->getOperand(bounds->table)])))
      return failure();
  IndexSpec spec = math.getIndexSpec();
  OperandShardings operands;
  operands.split.assign(spec.letters.size(), false);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Sharding &sharding = shardings[operand];
    for (auto [dim, isSplit] : llvm::enumerate(sharding.split))
      if (std::optional<unsigned> letter = letterAt(spec.operands[i], dim))
        operands.split[*letter] |= isSplit;
    if (!sharding.partial)
      continue;
    operands.partial |= 1u << i;
    operands.oneKind &= !operands.kind || operands.kind == sharding.partial;
    operands.kind = sharding.partial;
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(checkAgreement(op, i, shardings[operand], spec.operands[i],
                              operands.split)))
      return failure();
  Sharding &result = shardings[op->getResult(0)];
  for (auto [letter, isSplit] : llvm::enumerate(operands.split)) {
    if (isSplit && spec.kinds[letter] == LetterKind::Opaque)
      return op->emitOpError()
             << "needs a whole dimension that is split over the devices";
    if (isSplit && spec.isReduction(letter))
      result.partial = spec.kinds[letter];
  }
  for (size_t dim = 0; dim < result.split.size(); ++dim)
    if (std::optional<unsigned> letter = letterAt(spec.results.front(), dim))
      result.split[dim] = operands.split[*letter];
  if (!operands.partial)
    return success();
  if (operands.oneKind && passesPartial(op, operands.partial, *operands.kind)) {
    result.partial = operands.kind;
    return success();
  }
  for (OpOperand &operand : op->getOpOperands())
    if (operands.partial >> operand.getOperandNumber() & 1)
      wholeUses.push_back(&operand);
  return success();
}

} // namespace mlir::mg
