// Places and hoists all-reduces. After placing, no op uses a partial value in a
// way that is not linear.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/partition/Passes.h"
#include "compiler/partition/Sharding.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"

namespace mlir::mg {
namespace {

constexpr StringLiteral kDevices = "devices";

/// The grid of all devices, unless the module has one: one axis, whose size is
/// chosen when the bundle is run.
void ensureGrid(ModuleOp module) {
  if (module.lookupSymbol<shard::GridOp>(kDevices))
    return;
  OpBuilder builder(module.getBody(), module.getBody()->begin());
  shard::GridOp::create(builder, module.getLoc(), kDevices,
                        ArrayRef<int64_t>{ShapedType::kDynamic});
}

shard::ReductionKind reductionOf(LetterKind kind) {
  switch (kind) {
  case LetterKind::Prod:
    return shard::ReductionKind::Product;
  case LetterKind::Max:
    return shard::ReductionKind::Max;
  case LetterKind::Min:
    return shard::ReductionKind::Min;
  default:
    return shard::ReductionKind::Sum;
  }
}

/// Devices run as many units as they have, so entries of one unit hold no
/// collective: what they return is this device's own sum (RATIONALE C6).
/// `update`, and functions that are no entries, run once on every device.
bool runsTogether(func::FuncOp function) {
  auto entry = function->getAttrOfType<StringAttr>("mg.entry");
  return !function.isDeclaration() && (!entry || entry.getValue() == "update");
}

/// `'h1'`, `the gradient 'h1.kernel'`, or `the result of mg.reshape`.
std::string nameFor(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber();
    auto role = function.getArgAttrOfType<StringAttr>(number, "mg.role");
    auto name = function.getArgAttrOfType<StringAttr>(number, "mg.name");
    if (role && name)
      return ("the " + role.getValue() + " '" + name.getValue() + "'").str();
    return ("argument #" + Twine(number)).str();
  }
  if (auto name = dyn_cast<NameLoc>(value.getLoc()))
    return ("'" + name.getName().getValue() + "'").str();
  return ("the result of " + value.getDefiningOp()->getName().getStringRef())
      .str();
}

/// Why the collective is there, for people.
std::string causeOf(Value value, LetterKind kind, Operation *user) {
  std::string text = (nameFor(value) + " is a partial " + stringifyKind(kind) +
                      " on each device")
                         .str();
  if (isa<func::ReturnOp>(user))
    return text + " and is returned whole";
  return text + " and " + user->getName().getStringRef().str() +
         " is not linear in it";
}

shard::AllReduceOp reduceAt(OpBuilder &builder, Value value,
                            const Sharding &sharding) {
  SmallVector<int16_t> axes;
  for (int16_t axis = 0; sharding.partial >> axis; ++axis)
    if (sharding.partial >> axis & 1)
      axes.push_back(axis);
  return shard::AllReduceOp::create(builder, value.getLoc(), value.getType(),
                                    kDevices, axes, value,
                                    reductionOf(sharding.kind));
}

struct PlaceAllReduces : PassWrapper<PlaceAllReduces, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceAllReduces)
  StringRef getArgument() const final { return "mg-place-all-reduces"; }
  StringRef getDescription() const final {
    return "Reduce partial values over the devices where they are first used "
           "whole";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<shard::ShardDialect>();
  }

  void runOnOperation() final {
    ensureGrid(getOperation());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (runsTogether(function) && failed(place(function)))
        return signalPassFailure();
  }

private:
  static bool definedBefore(Value a, Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (!x || !y)
      return !x && (y || cast<BlockArgument>(a).getArgNumber() <
                             cast<BlockArgument>(b).getArgNumber());
    return x->isBeforeInBlock(y);
  }

  /// One value at a time, since reducing it changes what its users make of it.
  LogicalResult place(func::FuncOp function) {
    for (;;) {
      ShardingAnalysis analysis;
      if (failed(analysis.run(function)))
        return failure();
      if (analysis.wholeUses.empty())
        return success();
      // The one defined first: what is made from it is then whole too, and is
      // not reduced a second time.
      OpOperand *use = *llvm::min_element(
          analysis.wholeUses, [](OpOperand *a, OpOperand *b) {
            return definedBefore(a->get(), b->get());
          });
      Value value = use->get();
      const Sharding &sharding = analysis.of(value);
      OpBuilder builder(&getContext());
      if (Operation *made = value.getDefiningOp())
        builder.setInsertionPointAfter(made);
      else
        builder.setInsertionPointToStart(&function.front());
      shard::AllReduceOp reduced = reduceAt(builder, value, sharding);
      reduced->setAttr("mg.cause",
                       builder.getStrArrayAttr(
                           {causeOf(value, sharding.kind, use->getOwner())}));
      value.replaceAllUsesExcept(reduced.getResult(), reduced);
    }
  }
};

struct HoistAllReduces : PassWrapper<HoistAllReduces, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistAllReduces)
  StringRef getArgument() const final { return "mg-hoist-all-reduces"; }
  StringRef getDescription() const final {
    return "Move all-reduces up through linear ops while they do not get "
           "larger";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<shard::ShardDialect>();
  }

  void runOnOperation() final {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (!runsTogether(function))
        continue;
      SmallVector<shard::AllReduceOp> work(
          function.front().getOps<shard::AllReduceOp>());
      for (shard::AllReduceOp reduce : work) {
        ShardingAnalysis analysis;
        if (failed(analysis.run(function)))
          return signalPassFailure();
        while (hoist(reduce, analysis)) {
        }
      }
    }
  }

private:
  static int64_t bits(Value value) {
    return tensorOf(value).getNumElements() *
           tensorOf(value).getElementTypeBitWidth();
  }

  /// all_reduce(op(x, …)) -> op(all_reduce(x), …), where x alone is partial and
  /// is used by nothing else.
  bool hoist(shard::AllReduceOp &reduce, const ShardingAnalysis &analysis) {
    Operation *op = reduce.getInput().getDefiningOp();
    if (!op || !op->hasOneUse() || !isa<MathOp>(op))
      return false;
    OpOperand *source = nullptr;
    for (OpOperand &operand : op->getOpOperands())
      if (analysis.of(operand.get()).partial) {
        if (source)
          return false;
        source = &operand;
      }
    if (!source || !source->get().hasOneUse() ||
        analysis.of(source->get()).partial !=
            analysis.of(reduce.getInput()).partial ||
        bits(source->get()) > bits(reduce.getInput()))
      return false;
    OpBuilder builder(op);
    Value x = source->get();
    auto moved = shard::AllReduceOp::create(
        builder, x.getLoc(), x.getType(), reduce.getGrid(),
        reduce.getGridAxes(), x, reduce.getReduction());
    moved->setAttr("mg.cause", reduce->getAttr("mg.cause"));
    source->set(moved.getResult());
    reduce.getResult().replaceAllUsesWith(op->getResult(0));
    reduce->erase();
    reduce = moved;
    return true;
  }
};

} // namespace

std::unique_ptr<Pass> createPlaceAllReducesPass() {
  return std::make_unique<PlaceAllReduces>();
}
std::unique_ptr<Pass> createHoistAllReducesPass() {
  return std::make_unique<HoistAllReduces>();
}
void registerPartitionPasses() {
  PassRegistration<PlaceAllReduces>();
  PassRegistration<HoistAllReduces>();
}

} // namespace mlir::mg
