// Replaces entry functions by command lists (Passes.td: mg-schedule-entries).
// Where values lie is decided in PlaceValues.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/Passes.h"
#include "compiler/schedule/PlaceValues.h"
#include "mlir/IR/Builders.h"

namespace mlir::mg {
#define GEN_PASS_DEF_SCHEDULEENTRIES
#include "compiler/schedule/Passes.h.inc"
} // namespace mlir::mg

using namespace mlir;
using namespace mlir::mg;
using namespace mlir::mgrt;

namespace {

class EntryScheduler {
public:
  explicit EntryScheduler(EntryInput &input)
      : input(input), builder(input.function), placement(placeValues(input)) {}

  LogicalResult run() {
    auto name = input.function.getSymNameAttr();
    auto entry = EntryOp::create(builder, input.function.getLoc(), name,
                                 input.role, input.owner, input.unit,
                                 /*arena_bytes=*/nullptr,
                                 /*live_bytes=*/nullptr);
    builder.createBlock(&entry.getRegion());
    for (Operation &op : input.body())
      if (isLaunch(&op))
        addLaunch(&op);
      else if (isAllReduce(&op) && failed(addAllReduce(&op)))
        return failure();
    addReturnCopies();
    input.function.erase();
    return success();
  }

private:
  ArrayAttr rangesOf(ValueRange values) {
    SmallVector<Attribute> ranges;
    for (Value value : values)
      ranges.push_back(placement.of(value));
    return builder.getArrayAttr(ranges);
  }

  void addLaunch(Operation *op) {
    mgrt::LaunchOp::create(builder, op->getLoc(), getKernel(op),
                           rangesOf(op->getOperands()),
                           rangesOf(op->getResults()), getLabel(op->getLoc()));
  }

  LogicalResult addAllReduce(Operation *op) {
    FailureOr<Reduction> reduction = readReduction(op);
    if (failed(reduction))
      return failure();
    RangeAttr from = placement.of(op->getOperand(0));
    RangeAttr range = placement.of(op->getResult(0));
    StringAttr label = getLabel(op->getLoc());
    if (!from.sameMemory(range))
      mgrt::CopyOp::create(builder, op->getLoc(), from, range, label);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    mgrt::AllReduceOp::create(builder, op->getLoc(), *reduction,
                              type.getElementType(), range, label,
                              readCause(op));
    return success();
  }

  ArrayAttr readCause(Operation *op) {
    if (auto text = op->getAttrOfType<StringAttr>("mg.cause"))
      return builder.getArrayAttr({text});
    return op->getAttrOfType<ArrayAttr>("mg.cause");
  }

  struct Copy {
    RangeAttr source, target;
    Location location;
  };

  void addReturnCopies() {
    SmallVector<Copy> copies;
    for (auto [value, array] :
         llvm::zip(input.terminator()->getOperands(), input.results)) {
      RangeAttr target = getRange(array, value.getType());
      if (!placement.of(value).sameMemory(target))
        copies.push_back({placement.of(value), target, value.getLoc()});
    }
    // What a copy overwrites before another reads it goes through a temporary:
    // two variables that are exchanged, say.
    SmallVector<Copy> staged = copies;
    for (Copy &copy : staged)
      if (llvm::any_of(copies, [&](const Copy &other) {
            return other.target.overlaps(copy.source);
          }))
        copy.source = addStagingCopy(copy);
    for (const Copy &copy : staged)
      addCopy(copy);
  }

  RangeAttr addStagingCopy(const Copy &copy) {
    RangeAttr temporary = placement.addTemporary(
        copy.source.getBytes(), copy.source.getName(), builder.getContext());
    addCopy({copy.source, temporary, copy.location});
    return temporary;
  }

  void addCopy(const Copy &copy) {
    mgrt::CopyOp::create(builder, copy.location, copy.source, copy.target,
                         getLabel(copy.location));
  }

  EntryInput &input;
  OpBuilder builder;
  Placement placement;
};

struct ScheduleEntries : mg::impl::ScheduleEntriesBase<ScheduleEntries> {
  void runOnOperation() override {
    StateOp state = StateOp::find(getOperation());
    if (!state) {
      getOperation().emitError("expected a state layout: run mg-assign-state");
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isEntry(function))
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      FailureOr<EntryInput> input = readEntry(function, state);
      if (failed(input) || failed(EntryScheduler(*input).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
