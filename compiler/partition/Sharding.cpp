// One forward walk. A split parallel letter splits the result, a split reduced
// letter makes it partial; partial passes through ops that are linear in it,
// and every other use needs the whole value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/partition/Sharding.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
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

LogicalResult ShardingAnalysis::visit(Operation *op) {
  if (isa<shard::AllReduceOp>(op)) {
    if (!shardings[op->getOperand(0)].partial)
      return op->emitOpError()
             << "reduces a value that every device has whole already: the "
                "result would count it once a device";
    shardings[op->getResult(0)] = shardings[op->getOperand(0)];
    shardings[op->getResult(0)].partial = std::nullopt;
    return success();
  }
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      shardings[result] = Sharding::replicated(result);
  auto math = dyn_cast<MathOp>(op);
  if (!math)
    return success();
  IndexSpec spec = math.getIndexSpec();
  SmallVector<bool> split(spec.letters.size(), false);
  unsigned mask = 0;
  std::optional<LetterKind> kind;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const Sharding &sharding = shardings[operand];
    for (auto [dim, isSplit] : llvm::enumerate(sharding.split))
      if (isSplit && dim < spec.operands[i].getNumResults())
        if (auto letter =
                dyn_cast<AffineDimExpr>(spec.operands[i].getResult(dim)))
          split[letter.getPosition()] = true;
    if (sharding.partial) {
      mask |= 1u << i;
      kind = sharding.partial;
    }
  }
  Sharding &result = shardings[op->getResult(0)];
  for (auto [letter, isSplit] : llvm::enumerate(split)) {
    if (isSplit && spec.kinds[letter] == LetterKind::Opaque)
      return op->emitOpError()
             << "needs a whole dimension that is split over the devices";
    if (isSplit && spec.isReduction(letter))
      result.partial = spec.kinds[letter];
  }
  for (auto [dim, expr] : llvm::enumerate(spec.results.front().getResults()))
    if (auto letter = dyn_cast<AffineDimExpr>(expr))
      result.split[dim] = split[letter.getPosition()];
  if (!mask)
    return success();
  if (passesPartial(op, mask, *kind)) {
    result.partial = kind;
    return success();
  }
  for (OpOperand &operand : op->getOpOperands())
    if (mask >> operand.getOperandNumber() & 1)
      wholeUses.push_back(&operand);
  return success();
}

} // namespace mlir::mg
