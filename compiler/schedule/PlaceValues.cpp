// Places values in program order. A *chain* is a value followed by the
// all-reduces that work in place on it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/PlaceValues.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::mg;
using namespace mlir::mgrt;

StringAttr mg::getLabel(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName();
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return getLabel(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringAttr name = getLabel(part))
        return name;
  return {};
}

RangeAttr Placement::addTemporary(int64_t bytes, StringAttr name,
                                  MLIRContext *context) {
  return RangeAttr::get(context, mgrt::Region::Temporary, temporaries++, bytes,
                        name);
}

namespace {

class ValuePlacer {
public:
  explicit ValuePlacer(EntryInput &entry) : entry(entry) {}

  Placement run() {
    for (auto [argument, array] :
         llvm::zip(entry.function.getArguments(), entry.arguments))
      placeArgument(argument, array);
    for (auto [operand, array] :
         llvm::zip(entry.terminator()->getOperands(), entry.results))
      if (isIn(operand, array))
        settled.insert(array);
    for (Operation &op : entry.body())
      if (isLaunch(&op) || isAllReduce(&op))
        placeResults(&op);
    return std::move(placement);
  }

private:
  /// The all-reduce that may overwrite `value`: its last and, there, only use.
  Operation *inPlaceReduction(Value value) {
    OpOperand *last = nullptr;
    for (OpOperand *use : getUses(value))
      if (!last || !use->getOwner()->isBeforeInBlock(last->getOwner()))
        last = use;
    return last && isAllReduce(last->getOwner()) ? last->getOwner() : nullptr;
  }

  SmallVector<Value> chainFrom(Value value) {
    SmallVector<Value> chain{value};
    while (Operation *reduction = inPlaceReduction(chain.back()))
      chain.push_back(reduction->getResult(0));
    return chain;
  }

  /// The sums of a window are dead after the update that reduces them, so they
  /// may be reduced where they lie.
  static bool isWindow(ArrayOp array) {
    return array.getRole() == ArrayRole::Gradient ||
           array.getRole() == ArrayRole::MetricWindow ||
           array.getRole() == ArrayRole::CheckWindow;
  }

  void placeArgument(BlockArgument argument, ArrayOp array) {
    SmallVector<Value> chain =
        isWindow(array) ? chainFrom(argument) : SmallVector<Value>{argument};
    putInArray(chain, array, argument.getType());
  }

  void putInArray(ArrayRef<Value> chain, ArrayOp array, Type type) {
    for (Value value : chain)
      placement.ranges[value] = getRange(array, type);
    llvm::append_range(occupants[array], chain);
  }

  bool isIn(Value value, ArrayOp array) {
    return llvm::is_contained(occupants[array], getRoot(value));
  }

  void placeResults(Operation *op) {
    llvm::DenseSet<int64_t> taken;
    for (OpResult result : op->getResults()) {
      if (placement.ranges.contains(result))
        continue; // in the chain of an earlier value
      SmallVector<Value> chain = chainFrom(result);
      if (placeInArray(result, chain))
        continue;
      RangeAttr range = dyingOperand(result, taken);
      if (!range)
        range = newTemporary(result);
      for (Value value : chain)
        placement.ranges[value] = range;
    }
  }

  bool placeInArray(OpResult result, ArrayRef<Value> chain) {
    for (auto [operand, array] :
         llvm::zip(entry.terminator()->getOperands(), entry.results)) {
      if (!llvm::is_contained(chain, getRoot(operand)) ||
          settled.contains(array) || !isOverwritable(array, result))
        continue;
      settled.insert(array);
      putInArray(chain, array, operand.getType());
      return true;
    }
    return false;
  }

  /// Whether nothing reads what lies in `array` at or after `result`'s command,
  /// except as that command allows.
  bool isOverwritable(ArrayOp array, OpResult result) {
    return llvm::all_of(occupants[array], [&](Value occupant) {
      return diesAt(occupant, result);
    });
  }

  bool diesAt(Value value, OpResult result) {
    Operation *command = result.getOwner();
    return llvm::all_of(getUses(value), [&](OpOperand *use) {
      if (use->getOwner() == command)
        return mayShare(command, use->getOperandNumber(),
                        result.getResultNumber());
      return use->getOwner()->isBeforeInBlock(command);
    });
  }

  /// The temporary of an operand that ends here and may hold `result`; null if
  /// there is none.
  RangeAttr dyingOperand(OpResult result, llvm::DenseSet<int64_t> &taken) {
    Operation *command = result.getOwner();
    if (!isLaunch(command))
      return {}; // an all-reduce in place on a temporary is in its chain
    int64_t bytes = tensorSizeBytes(cast<RankedTensorType>(result.getType()));
    for (OpOperand &operand : command->getOpOperands()) {
      RangeAttr range = placement.of(operand.get());
      if (range.getRegion() == mgrt::Region::Temporary &&
          range.getBytes() == bytes &&
          mayShare(command, operand.getOperandNumber(),
                   result.getResultNumber()) &&
          diesAt(getRoot(operand.get()), result) &&
          taken.insert(range.getOffset()).second)
        return RangeAttr::get(range.getContext(), range.getRegion(),
                              range.getOffset(), bytes, nameOf(result));
    }
    return {};
  }

  RangeAttr newTemporary(OpResult result) {
    return placement.addTemporary(
        tensorSizeBytes(cast<RankedTensorType>(result.getType())),
        nameOf(result), result.getContext());
  }

  /// "h1", or "h1#2" for the third result of several.
  static StringAttr nameOf(OpResult result) {
    StringAttr name = getLabel(result.getLoc());
    if (!name || result.getOwner()->getNumResults() == 1)
      return name;
    return StringAttr::get(result.getContext(),
                           name.getValue() + "#" +
                               Twine(result.getResultNumber()));
  }

  EntryInput &entry;
  Placement placement;
  llvm::DenseMap<ArrayOp, SmallVector<Value>> occupants;
  llvm::DenseSet<ArrayOp> settled; // hold, or will hold, what the entry returns
};

} // namespace

Placement mg::placeValues(EntryInput &entry) {
  return ValuePlacer(entry).run();
}
