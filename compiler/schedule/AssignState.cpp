// Lays out the state region from `mg.interface` (Passes.td: mg-assign-state).
// Functions are not looked at.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/Passes.h"
#include "dialects/mgrt/ModuleInterface.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mg {
#define GEN_PASS_DEF_ASSIGNSTATE
#include "compiler/schedule/Passes.h.inc"
} // namespace mlir::mg

using namespace mlir;
using namespace mlir::mgrt;

namespace {

/// The trainable variables of one dtype: `bytes` in a row, member i at
/// `offsets[i]` of it. Gradients and slots repeat the pattern.
struct Block {
  SmallVector<const VariableInfo *> members;
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;

  void add(const VariableInfo &variable) {
    members.push_back(&variable);
    offsets.push_back(bytes);
    bytes += llvm::alignTo(tensorSizeBytes(variable.type), kAlignment);
  }
};

class Layout {
public:
  Layout(OpBuilder &builder, const ModuleInterface &interface)
      : builder(builder), interface(interface) {
    llvm::MapVector<Type, Block> byType;
    for (const VariableInfo &variable : interface.variables)
      if (variable.trainable)
        byType[variable.type.getElementType()].add(variable);
    for (auto &[dtype, block] : byType)
      blocks.push_back(std::move(block));
  }

  /// Creates the arrays; the size of the region.
  int64_t build(Location loc) {
    addControl(loc);
    addVariables();
    for (const TrainInfo &train : interface.trains)
      addTrain(train, loc);
    addRows(ArrayRole::Input, interface.inputs);
    addRows(ArrayRole::Output, interface.outputs);
    for (const PredictInfo &predict : interface.predicts)
      for (const CheckInfo &check : predict.checks)
        append(ArrayRole::CheckEvaluation, check.name, predict.name, counts(),
               check.location);
    return end;
  }

private:
  RankedTensorType counts() {
    return RankedTensorType::get({2}, builder.getI64Type());
  }
  RankedTensorType sums() {
    return RankedTensorType::get({2}, builder.getF64Type());
  }

  ArrayOp place(ArrayRole role, StringRef name, StringRef owner,
                RankedTensorType type, Location loc, int64_t offset) {
    auto ownerAttr =
        owner.empty() ? StringAttr() : builder.getStringAttr(owner);
    return ArrayOp::create(
        builder, loc, ArrayRoleAttr::get(builder.getContext(), role),
        builder.getStringAttr(name), ownerAttr, TypeAttr::get(type),
        builder.getI64IntegerAttr(offset), /*trainable=*/UnitAttr());
  }
  ArrayOp append(ArrayRole role, StringRef name, StringRef owner,
                 RankedTensorType type, Location loc) {
    ArrayOp array = place(role, name, owner, type, loc, end);
    end = llvm::alignTo(end + tensorSizeBytes(type), kAlignment);
    return array;
  }

  void addControl(Location loc) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    for (ArrayRole role :
         {ArrayRole::Seed, ArrayRole::Step, ArrayRole::Row0, ArrayRole::Rows})
      append(role, stringifyArrayRole(role), "", type, loc);
  }

  void addVariables() {
    for (const Block &block : blocks)
      for (const VariableInfo *variable : block.members)
        append(ArrayRole::Variable, variable->name, "", variable->type,
               variable->location)
            .setTrainable(true);
    for (const VariableInfo &variable : interface.variables)
      if (!variable.trainable)
        append(ArrayRole::Variable, variable.name, "", variable.type,
               variable.location);
  }

  void addTrain(const TrainInfo &train, Location loc) {
    addSlots(train.name, loc);
    for (const ScalarInfo &scalar : interface.scalars)
      if (scalar.owner == train.name)
        append(ArrayRole::Scalar, scalar.name, scalar.owner, scalar.type, loc);
    RangeAttr sumsRange = covering([&] { addWindow(train, loc); });
    RangeAttr epochRange = covering([&] {
      for (StringRef metric : train.metrics)
        append(ArrayRole::MetricEpoch, metric, train.name, sums(), loc);
    });
    RangeAttr evaluationRange = covering([&] {
      for (StringRef metric : train.metrics)
        append(ArrayRole::MetricEvaluation, metric, train.name, sums(), loc);
      for (const CheckInfo &check : train.checks)
        append(ArrayRole::CheckEvaluation, check.name, train.name, counts(),
               check.location);
    });
    WindowOp::create(builder, loc, builder.getStringAttr(train.name), sumsRange,
                     epochRange, evaluationRange);
  }

  void addWindow(const TrainInfo &train, Location loc) {
    for (const Block &block : blocks) {
      for (auto [variable, offset] : llvm::zip(block.members, block.offsets))
        place(ArrayRole::Gradient, variable->name, train.name, variable->type,
              variable->location, end + offset);
      end += block.bytes;
    }
    for (StringRef metric : train.metrics)
      append(ArrayRole::MetricWindow, metric, train.name, sums(), loc);
    for (const CheckInfo &check : train.checks)
      append(ArrayRole::CheckWindow, check.name, train.name, counts(),
             check.location);
  }

  /// Slots by kind ("m"), each at the variables' inner offsets; those that
  /// differ from their variable in type come last.
  void addSlots(StringRef train, Location loc) {
    llvm::MapVector<StringRef, llvm::DenseMap<StringRef, const SlotInfo *>>
        kinds;
    SmallVector<const SlotInfo *> others;
    for (const SlotInfo &slot : interface.slots) {
      if (slot.owner != train)
        continue;
      if (isLikeItsVariable(slot))
        kinds[slot.name.drop_back(slot.variable.size())][slot.variable] = &slot;
      else
        others.push_back(&slot);
    }
    for (auto &[kind, slots] : kinds)
      for (const Block &block : blocks)
        addSlotBlock(block, slots, loc);
    for (const SlotInfo *slot : others)
      append(ArrayRole::Slot, slot->name, train, slot->type, loc);
  }

  bool isLikeItsVariable(const SlotInfo &slot) {
    return llvm::any_of(interface.variables, [&](const VariableInfo &variable) {
      return variable.trainable && slot.name.ends_with(variable.name) &&
             variable.name == slot.variable && variable.type == slot.type;
    });
  }

  void addSlotBlock(const Block &block,
                    const llvm::DenseMap<StringRef, const SlotInfo *> &slots,
                    Location loc) {
    bool isUsed = false;
    for (auto [variable, offset] : llvm::zip(block.members, block.offsets)) {
      const SlotInfo *slot = slots.lookup(variable->name);
      if (!slot)
        continue;
      place(ArrayRole::Slot, slot->name, slot->owner, slot->type,
            variable->location, end + offset);
      isUsed = true;
    }
    if (isUsed)
      end += block.bytes;
  }

  void addRows(ArrayRole role, ArrayRef<RowsInfo> arrays) {
    for (const RowsInfo &array : arrays) {
      SmallVector<int64_t> shape{interface.units.back()};
      llvm::append_range(shape, array.row.getShape());
      append(role, array.name, "",
             RankedTensorType::get(shape, array.row.getElementType()),
             array.location);
    }
  }

  RangeAttr covering(function_ref<void()> add) {
    int64_t begin = end;
    add();
    return RangeAttr::get(builder.getContext(), mgrt::Region::State, begin,
                          end - begin, {});
  }

  OpBuilder &builder;
  const ModuleInterface &interface;
  SmallVector<Block> blocks;
  int64_t end = 0;
};

struct AssignState : mg::impl::AssignStateBase<AssignState> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (StateOp existing = StateOp::find(module)) {
      existing.emitError("the state has a layout already");
      return signalPassFailure();
    }
    FailureOr<ModuleInterface> interface = readInterface(module);
    if (failed(interface))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto state = StateOp::create(builder, module.getLoc(), /*bytes=*/0);
    builder.createBlock(&state.getRegion());
    int64_t bytes = Layout(builder, *interface).build(module.getLoc());
    state.setBytes(bytes);
  }
};

} // namespace
