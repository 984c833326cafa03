// Each mg op becomes a linalg.generic by its index maps and its scalar code;
// free ops are copied into the kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/OutlineKernel.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mg {

Type signless(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(),
                                 signless(tensor.getElementType()));
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

namespace {

class Outliner {
public:
  Outliner(const Group &group, ModuleOp module,
           llvm::function_ref<bool(Value)> needed)
      : group(group), module(module), needed(needed),
        builder(module.getContext()) {}

  OutlinedKernel run() {
    collect();
    SmallVector<Type> inputs, outputs;
    for (Value value : operands)
      inputs.push_back(signless(value.getType()));
    for (Value value : results)
      outputs.push_back(signless(value.getType()));
    builder.setInsertionPointToEnd(module.getBody());
    Location loc = group.ops.back()->getLoc();
    auto function = func::FuncOp::create(
        builder, loc, "kernel", builder.getFunctionType(inputs, outputs));
    function.setPrivate();
    function->setAttr("mg.kernel", builder.getUnitAttr());
    builder.setInsertionPointToStart(function.addEntryBlock());
    for (auto [value, argument] :
         llvm::zip(operands, function.getArguments())) {
      argument.setLoc(value.getLoc());
      values[value] = argument;
    }
    for (Operation *op : body)
      values[op->getResult(0)] = emit(cast<MathOp>(op));
    SmallVector<Value> returned;
    for (Value value : results)
      returned.push_back(values.lookup(value));
    func::ReturnOp::create(builder, loc, returned);
    setCost(function);
    return {
        function, {operands.begin(), operands.end()}, results, inplacePairs()};
  }

private:
  /// Ops of the kernel in order, free ones included; values from outside;
  /// values that leave.
  void collect() {
    llvm::SmallSetVector<Operation *, 16> all;
    std::function<void(Operation *)> add = [&](Operation *op) {
      if (all.contains(op))
        return;
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && isFree(producer) &&
            !llvm::is_contained(group.ops, producer))
          add(producer);
      }
      all.insert(op);
    };
    for (Operation *op : group.ops)
      add(op);
    body.assign(all.begin(), all.end());
    llvm::stable_sort(
        body, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : body)
      for (Value operand : op->getOperands())
        if (!operand.getDefiningOp() || !all.contains(operand.getDefiningOp()))
          operands.insert(operand);
    for (Operation *op : group.ops)
      if (needed(op->getResult(0)))
        results.push_back(op->getResult(0));
  }

  Value emit(MathOp op) {
    IndexSpec spec = op.getIndexSpec();
    auto type = cast<RankedTensorType>(signless(op->getResult(0).getType()));
    Location loc = op->getLoc();
    Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                         type.getElementType());
    std::optional<LetterKind> kind;
    SmallVector<utils::IteratorType> iterators;
    for (unsigned letter = 0; letter < spec.letters.size(); ++letter) {
      iterators.push_back(spec.isReduction(letter)
                              ? utils::IteratorType::reduction
                              : utils::IteratorType::parallel);
      if (spec.isReduction(letter))
        kind = spec.kinds[letter];
    }
    if (kind)
      init = linalg::FillOp::create(
                 builder, loc, identity(*kind, op, type.getElementType()), init)
                 .getResult(0);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands())
      if (isStreamed(operand)) {
        inputs.push_back(values.lookup(operand.get()));
        maps.push_back(spec.operands[operand.getOperandNumber()]);
      }
    maps.push_back(spec.results.front());
    SmallVector<Type> elements;
    for (Value operand : op->getOperands())
      elements.push_back(tensorOf(operand).getElementType());
    auto generic = linalg::GenericOp::create(
        builder, loc, type, inputs, init, maps, iterators,
        [&](OpBuilder &nested, Location at, ValueRange scalars) {
          ScalarBuilder scalar(nested, at, spec, elements,
                               type.getElementType());
          SmallVector<Value> operandScalars, out;
          ValueRange streamed = scalars.drop_back();
          for (OpOperand &operand : op->getOpOperands()) {
            Value tensor = values.lookup(operand.get());
            if (isStreamed(operand)) {
              operandScalars.push_back(streamed.front());
              streamed = streamed.drop_front();
            } else if (op.onlyMoves()) {
              operandScalars.push_back(
                  loadAt(nested, at, tensor,
                         spec.operands[operand.getOperandNumber()]));
            } else { // the body loads from the tensor itself
              operandScalars.push_back(tensor);
            }
          }
          op.emitBody(scalar, operandScalars, out);
          linalg::YieldOp::create(
              nested, at,
              kind ? combine(nested, at, *kind, scalars.back(), out.front(), op)
                   : out.front());
        });
    return generic.getResult(0);
  }
  static Value loadAt(OpBuilder &nested, Location loc, Value tensor,
                      AffineMap map) {
    SmallVector<Value> letters, point;
    for (unsigned letter = 0; letter < map.getNumDims(); ++letter)
      letters.push_back(linalg::IndexOp::create(nested, loc, letter));
    for (AffineExpr expr : map.getResults())
      point.push_back(affine::expandAffineExpr(nested, loc, expr, letters, {}));
    return tensor::ExtractOp::create(nested, loc, tensor, point);
  }

  bool isUnsignedResult(MathOp op) const {
    return tensorOf(op->getResult(0)).getElementType().isUnsignedInteger();
  }

  Value identity(LetterKind kind, MathOp op, Type element) {
    Location loc = op->getLoc();
    if (auto real = dyn_cast<FloatType>(element)) {
      double infinity = std::numeric_limits<double>::infinity();
      double value = kind == LetterKind::Sum    ? 0
                     : kind == LetterKind::Prod ? 1
                     : kind == LetterKind::Max  ? -infinity
                                                : infinity;
      return arith::ConstantOp::create(builder, loc,
                                       builder.getFloatAttr(real, value));
    }
    unsigned width = element.getIntOrFloatBitWidth();
    bool isUnsigned = isUnsignedResult(op);
    APInt value = kind == LetterKind::Sum    ? APInt(width, 0)
                  : kind == LetterKind::Prod ? APInt(width, 1)
                  : kind == LetterKind::Max
                      ? (isUnsigned ? APInt::getZero(width)
                                    : APInt::getSignedMinValue(width))
                      : (isUnsigned ? APInt::getMaxValue(width)
                                    : APInt::getSignedMaxValue(width));
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(element, value));
  }
  Value combine(OpBuilder &nested, Location loc, LetterKind kind, Value sum,
                Value element, MathOp op) {
    IndexSpec none;
    SmallVector<Type> types(2, isUnsignedResult(op)
                                   ? tensorOf(op->getResult(0)).getElementType()
                                   : element.getType());
    ScalarBuilder scalar(nested, loc, none, types, element.getType());
    switch (kind) {
    case LetterKind::Prod:
      return scalar.mul(sum, element).value;
    case LetterKind::Max:
      return scalar.max(sum, element).value;
    case LetterKind::Min:
      return scalar.min(sum, element).value;
    default:
      return scalar.add(sum, element).value;
    }
  }

  /// A result may lie where an operand lay if they have one size and every use
  /// of the operand, in the epilogue, is at the same point.
  SmallVector<std::pair<int64_t, int64_t>> inplacePairs() {
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    for (auto [i, operand] : llvm::enumerate(operands))
      for (auto [j, result] : llvm::enumerate(results))
        if (signless(operand.getType()) == signless(result.getType()) &&
            readAtOwnPoint(operand))
          pairs.emplace_back(i, j);
    return pairs;
  }
  bool readAtOwnPoint(Value operand) {
    for (Operation *op : body) {
      IndexSpec spec = cast<MathOp>(op).getIndexSpec();
      for (OpOperand &use : op->getOpOperands())
        if (use.get() == operand &&
            (op == group.root || feedsRoot(op) || !isStreamed(use) ||
             spec.operands[use.getOperandNumber()] != spec.results.front() ||
             tensorOf(op->getResult(0)).getShape() !=
                 ArrayRef<int64_t>(group.shape)))
          return false;
    }
    return usedAtOwnPoint();
  }
  /// Inside the group, values too are read at their own point only; otherwise
  /// an operand could be read after its place was written.
  bool usedAtOwnPoint() {
    for (Operation *op : body) {
      if (op == group.root || feedsRoot(op))
        continue;
      IndexSpec spec = cast<MathOp>(op).getIndexSpec();
      for (auto [value, map] : llvm::zip(op->getOperands(), spec.operands))
        if (value.getDefiningOp() &&
            llvm::is_contained(group.ops, value.getDefiningOp()) &&
            map != spec.results.front())
          return false;
    }
    return true;
  }
  bool feedsRoot(Operation *op) {
    if (!group.root)
      return false;
    for (Operation *user : op->getUsers())
      if (llvm::is_contained(body, user) &&
          (user == group.root || feedsRoot(user)))
        return true;
    return false;
  }

  void setCost(func::FuncOp function) {
    int64_t flops = 0, bytes = 0;
    for (Operation *op : group.ops) {
      int64_t points = 1;
      for (int64_t extent : cast<MathOp>(op).getIndexSpec().extents)
        points *= extent;
      flops += points * (op == group.root && isContraction(op) ? 2 : 1);
    }
    auto size = [](Type type) {
      return cast<RankedTensorType>(type).getNumElements() *
             ((cast<RankedTensorType>(type).getElementTypeBitWidth() + 7) / 8);
    };
    for (Type type : function.getArgumentTypes())
      bytes += size(type);
    for (Type type : function.getResultTypes())
      bytes += size(type);
    function->setAttr("mg.flops", builder.getI64IntegerAttr(flops));
    function->setAttr("mg.bytes", builder.getI64IntegerAttr(bytes));
  }

  const Group &group;
  ModuleOp module;
  llvm::function_ref<bool(Value)> needed;
  OpBuilder builder;
  SmallVector<Operation *> body;
  llvm::SmallSetVector<Value, 8> operands;
  SmallVector<Value> results;
  llvm::DenseMap<Value, Value> values;
};

} // namespace

OutlinedKernel outlineKernel(const Group &group, ModuleOp module,
                             llvm::function_ref<bool(Value)> needed) {
  return Outliner(group, module, needed).run();
}

} // namespace mlir::mg
