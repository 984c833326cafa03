// One walk back over the block. A value's gradient is the sum of what its uses
// contribute; an op is visited once all of them are known.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/Adjoint.h"
#include "dialects/mg/Mg.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mg {

StringRef nameOf(Value value) {
  auto name = dyn_cast<NameLoc>(value.getLoc());
  return name ? name.getName().getValue() : StringRef();
}

Location renamed(Location loc, const Twine &name) {
  if (auto old = dyn_cast<NameLoc>(loc))
    loc = old.getChildLoc();
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

LogicalResult expandForMode(Block &block, bool training) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto math = dyn_cast<MathOp>(op);
      if (!math || !math.isComposite() || math.hasVjp() ||
          !math.getNoGradientReason().empty())
        continue;
      OpBuilder builder(&op);
      RuleBuilder rules(builder, op.getLoc(), op.getOperand(0));
      SmallVector<Value> results;
      if (failed(math.buildDecomposition(rules, training, results)))
        return op.emitOpError("cannot be expanded");
      op.replaceAllUsesWith(results);
      op.erase();
      changed = true;
    }
  }
  return success();
}

namespace {

/// Where a gradient is exactly 0 because mg.select did not choose the value:
/// (condition, whether it was chosen by true).
struct Guard {
  Value condition;
  bool chosen = true;
};

class Reverse {
public:
  Reverse(OpBuilder &builder, llvm::DenseSet<Location> &warned)
      : builder(builder), warned(warned) {}

  void seed(Value output, Value gradient) { gradients[output] = gradient; }
  Value gradient(Value value) const { return gradients.lookup(value); }

  /// Ops between `wanted` and `output`, both ways.
  void findPath(Value output, ArrayRef<Value> wanted) {
    llvm::SmallPtrSet<Operation *, 32> below;
    SmallVector<Value> work(wanted);
    llvm::SmallPtrSet<Value, 32> reached(wanted.begin(), wanted.end());
    while (!work.empty())
      for (Operation *user : work.pop_back_val().getUsers())
        if (below.insert(user).second)
          for (Value result : user->getResults())
            if (reached.insert(result).second)
              work.push_back(result);
    work.push_back(output);
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (op && below.contains(op) && path.insert(op).second)
        work.append(op->operand_begin(), op->operand_end());
    }
    for (Value value : reached)
      depends.insert(value);
  }

  LogicalResult visit(Operation *op) {
    if (!path.contains(op) || llvm::none_of(op->getResults(), [&](Value r) {
          return gradients.lookup(r) != nullptr;
        }))
      return success();
    auto math = dyn_cast<MathOp>(op);
    if (!math)
      return op->emitOpError("lies between a variable and the objective but is "
                             "no op that can be differentiated");
    if (!math.hasVjp())
      return noDerivative(op, math.getNoGradientReason());
    SmallVector<Value> resultGradients, operandGradients;
    for (Value result : op->getResults())
      resultGradients.push_back(gradients.lookup(result)
                                    ? gradients.lookup(result)
                                    : zerosLike(result));
    RuleBuilder rules(builder, op->getLoc(), op->getResult(0));
    math.buildVjp(rules, resultGradients, operandGradients);
    Guard guard = guards.lookup(op->getResult(0));
    for (auto [operand, gradient] :
         llvm::zip(op->getOperands(), operandGradients)) {
      if (!gradient || !depends.contains(operand))
        continue;
      if (holdsFloats(operand))
        contribute(op, operand, gradient, guardOf(op, operand, guard));
      else if (failed(endAtIntegers(operand)))
        return failure();
    }
    return success();
  }

private:
  static bool holdsFloats(Value value) {
    return isa<FloatType>(tensorOf(value).getElementType());
  }

  /// No gradient goes through integers: names the ops that made them of floats.
  LogicalResult endAtIntegers(Value integers) {
    SmallVector<Value> work{integers};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (!op || !path.contains(op) || !seen.insert(op).second)
        continue;
      bool ends = false;
      for (Value operand : op->getOperands()) {
        if (!depends.contains(operand))
          continue;
        if (holdsFloats(operand))
          ends = true;
        else
          work.push_back(operand);
      }
      auto math = dyn_cast<MathOp>(op);
      StringRef reason = math && !math.hasVjp() ? math.getNoGradientReason()
                                                : "its result holds no floats";
      if (ends && failed(noDerivative(op, reason)))
        return failure();
    }
    return success();
  }

  /// A path through an op without derivative carries no gradient; that is a
  /// warning, since the model may mean it.
  LogicalResult noDerivative(Operation *op, StringRef reason) {
    if (warned.insert(op->getLoc()).second)
      op->emitWarning() << "'" << op->getName()
                        << "' is not differentiable, its gradient is zero: "
                        << reason;
    return success();
  }
  Value zerosLike(Value value) {
    RuleBuilder rules(builder, value.getLoc(), value);
    return rules.value(Term(0.0));
  }

  /// The guard of what flows to `operand`: select starts one, element-wise ops
  /// hand it on.
  Guard guardOf(Operation *op, Value operand, Guard incoming) {
    if (auto select = dyn_cast<SelectOp>(op)) {
      if (select.getA() != select.getB())
        return {select.getCondition(), operand == select.getA()};
      return {};
    }
    return op->hasTrait<OpTrait::mg::ElementwiseBroadcast>() ? incoming
                                                             : Guard();
  }

  /// True if `gradient` is made of `of` by choosing, negating and finite
  /// factors alone, so that a 0 stays a 0 whatever the other operands are.
  static bool keepsZero(Value gradient, Value of) {
    if (gradient == of)
      return true;
    Operation *op = gradient.getDefiningOp();
    if (auto select = dyn_cast_or_null<SelectOp>(op))
      return (keepsZero(select.getA(), of) || isZero(select.getA())) &&
             (keepsZero(select.getB(), of) || isZero(select.getB()));
    if (auto product = dyn_cast_or_null<MultiplyOp>(op))
      return (keepsZero(product.getA(), of) && isFinite(product.getB())) ||
             (keepsZero(product.getB(), of) && isFinite(product.getA()));
    return isa_and_nonnull<NegateOp>(op) && keepsZero(op->getOperand(0), of);
  }
  static bool isFinite(Value value) {
    DenseElementsAttr elements;
    return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
           isa<FloatType>(elements.getElementType()) &&
           elements.getSplatValue<APFloat>().isFinite();
  }
  static bool isZero(Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                             : DenseElementsAttr();
    return elements && elements.isSplat() &&
           isa<FloatType>(elements.getElementType()) &&
           elements.getSplatValue<APFloat>().isZero();
  }

  void contribute(Operation *op, Value operand, Value gradient, Guard guard) {
    Value of = gradients.lookup(op->getResult(0));
    RuleBuilder rules(builder, op->getLoc(), gradient);
    bool shaped = guard.condition && tensorOf(guard.condition).getShape() ==
                                         tensorOf(gradient).getShape();
    if (shaped && !isa<SelectOp>(op) && !keepsZero(gradient, of)) {
      Term zero = rules.like(Term(0.0), Term(gradient), Term(gradient));
      Term kept =
          guard.chosen
              ? rules.select(Term(guard.condition), Term(gradient), zero)
              : rules.select(Term(guard.condition), zero, Term(gradient));
      gradient = kept.value;
    }
    if (Value before = gradients.lookup(operand)) {
      gradient = rules.add(Term(before), Term(gradient)).value;
      guard = {};
    }
    if (Operation *made = gradient.getDefiningOp();
        made && !nameOf(operand).empty() && !isa<NameLoc>(made->getLoc()))
      made->setLoc(renamed(op->getLoc(), "d_" + nameOf(operand)));
    else if (made && made->getLoc() == op->getLoc() && gradient != of)
      made->setLoc(nameOf(operand).empty()
                       ? childLoc(op->getLoc())
                       : renamed(op->getLoc(), "d_" + nameOf(operand)));
    gradients[operand] = gradient;
    guards[operand] = shaped ? guard : Guard();
  }
  static Location childLoc(Location loc) {
    auto name = dyn_cast<NameLoc>(loc);
    return name ? name.getChildLoc() : loc;
  }

  OpBuilder &builder;
  llvm::DenseSet<Location> &warned;
  llvm::DenseMap<Value, Value> gradients;
  llvm::DenseMap<Value, Guard> guards;
  llvm::SmallPtrSet<Operation *, 32> path;
  llvm::SmallPtrSet<Value, 32> depends;
};

} // namespace

FailureOr<SmallVector<Value>> adjoint(OpBuilder &builder, Value output,
                                      Value seed, ArrayRef<Value> wanted,
                                      llvm::DenseSet<Location> &warned) {
  SmallVector<Operation *> ops;
  for (Operation &op : *output.getParentBlock())
    ops.push_back(&op);
  Reverse reverse(builder, warned);
  reverse.findPath(output, wanted);
  reverse.seed(output, seed);
  for (Operation *op : llvm::reverse(ops))
    if (failed(reverse.visit(op)))
      return failure();
  SmallVector<Value> gradients;
  for (Value value : wanted)
    gradients.push_back(reverse.gradient(value));
  return gradients;
}

} // namespace mlir::mg
