// mg.model -> func.func: batch sizes filled in, types inferred, calls inlined,
// layers expanded, broadcasts made explicit, random ops keyed. What a value
// means does not change here. Start at Instantiation::run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/model/Passes.h"
#include "dialects/mg/Mg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/InterleavedRange.h"

namespace mlir::mg {

uint32_t randomKey(StringRef path) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : path)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

namespace {

using Values = llvm::DenseMap<Value, Value>;

/// Builds the typed form of one mg.train or mg.predict for one unit size.
class Instantiation {
public:
  Instantiation(ModelOp model, OpBuilder &builder, int64_t unit,
                StringRef owner)
      : model(model), builder(builder), unit(unit), owner(owner) {}

  /// Clones the ops of `body` at the builder; `values` maps its arguments.
  LogicalResult run(Block &body, Values &values) {
    for (Operation &op : body)
      if (failed(instantiate(op, values)))
        return failure();
    return success();
  }
  FailureOr<RankedTensorType> fill(Type type) const {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    if (!shape.empty() && ShapedType::isDynamic(shape[0]))
      shape[0] = unit;
    return RankedTensorType::get(shape, tensor.getElementType());
  }
  /// An op of one operand by name, such as an activation.
  FailureOr<Value> apply(Operation *user, StringRef name, Value x) {
    auto info = RegisteredOperationName::lookup(("mg." + name).str(),
                                                user->getContext());
    if (!info || !info->hasInterface<MathOp>() || !takesOneOperand(*info, x))
      return user->emitOpError()
             << "has no activation '" << name
             << "'; any op of one operand will do, such as relu, tanh, "
                "sigmoid, gelu, gelu_tanh, silu, softmax";
    RuleBuilder rules(builder, user->getLoc(), x);
    Term y = rules.op(info->getStringRef(), {Term(x)});
    if (!y.value || failed(verify(y.value.getDefiningOp())))
      return failure();
    return y.value;
  }

private:
  /// True if the op can be built on `x` alone: no other operand or attribute.
  bool takesOneOperand(RegisteredOperationName info, Value x) {
    OperationState state(x.getLoc(), info);
    state.addOperands(x);
    state.addTypes(InferType::get(x.getContext()));
    Operation *op = builder.create(state);
    ScopedDiagnosticHandler silence(x.getContext(),
                                    [](Diagnostic &) { return success(); });
    bool valid = succeeded(op->getName().verifyInvariants(op));
    op->erase();
    return valid;
  }

  /// A word in braces that no op knows is a slip of the pen; those with a dot
  /// belong to a dialect, which looks after them.
  static LogicalResult checkAttributes(Operation &op) {
    for (NamedAttribute attribute : op.getDiscardableAttrs())
      if (!attribute.getName().strref().contains('.')) {
        InFlightDiagnostic error = op.emitOpError()
                                   << "has no attribute '"
                                   << attribute.getName().strref() << "'";
        if (!op.getName().getAttributeNames().empty())
          error << "; it has "
                << llvm::interleaved(llvm::map_range(
                       op.getName().getAttributeNames(),
                       [](StringAttr name) { return name.strref(); }));
        return error;
      }
    return success();
  }

  LogicalResult instantiate(Operation &op, Values &values) {
    if (failed(checkAttributes(op)))
      return failure();
    if (auto call = dyn_cast<CallOp>(op))
      return inlineCall(call, values);
    if (auto get = dyn_cast<GetOp>(op))
      return getVariable(get, get.getVariable(), values);
    if (auto dense = dyn_cast<DenseOp>(op))
      return expandDense(dense, values);
    if (isa<MathOp>(op))
      return instantiateMath(op, values);
    if (isa<ReturnOp>(op))
      return success();
    Operation *copy = builder.clone(op);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(values.lookup(operand.get()));
    return success();
  }

  LogicalResult instantiateMath(Operation &op, Values &values) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    SmallVector<NamedAttribute> key;
    addKey(op, key);
    Value y = buildTyped(builder, op, operands, key);
    if (!y)
      return failure();
    values[op.getResult(0)] = y;
    return success();
  }

  /// Ops that have a `key` get one from where they stand, unless the file gives
  /// it.
  void addKey(Operation &op, SmallVectorImpl<NamedAttribute> &attributes) {
    if (!llvm::is_contained(op.getName().getAttributeNames(),
                            StringAttr::get(op.getContext(), "key")) ||
        op.getAttr("key"))
      return;
    std::string path =
        (model.getSymName() + "/" + owner + "/" + Twine(ordinal++)).str();
    attributes.push_back(builder.getNamedAttr(
        "key", builder.getI32IntegerAttr(randomKey(path))));
  }

  LogicalResult inlineCall(CallOp call, Values &values) {
    auto callee = model.lookupSymbol<FuncOp>(call.getCallee());
    if (!callee)
      return call.emitOpError() << "calls '@" << call.getCallee()
                                << "', but the model has no such function";
    if (llvm::is_contained(stack, callee))
      return call.emitOpError()
             << "makes '@" << call.getCallee() << "' call itself";
    auto type = cast<FunctionType>(callee.getFunctionType());
    if (type.getNumInputs() != call.getInputs().size())
      return call.emitOpError()
             << "passes " << call.getInputs().size() << " values, '@"
             << call.getCallee() << "' takes " << type.getNumInputs();
    Values inner;
    for (auto [argument, input, declared] :
         llvm::zip(callee.getBody().getArguments(), call.getInputs(),
                   type.getInputs())) {
      Value actual = values.lookup(input);
      if (actual.getType() != *fill(declared))
        return call.emitOpError()
               << "passes " << actual.getType() << " where '@"
               << call.getCallee() << "' takes " << declared;
      inner[argument] = actual;
    }
    stack.push_back(callee);
    FailureOr<SmallVector<Value>> results = body(callee, inner);
    stack.pop_back();
    if (failed(results))
      return failure();
    if (results->size() != 1)
      return call.emitOpError() << "calls a function of " << results->size()
                                << " results, expected one";
    values[call.getY()] = results->front();
    return success();
  }

public:
  /// The typed results of a function, checked against its declaration.
  FailureOr<SmallVector<Value>> body(FuncOp function, Values &values) {
    Block &block = function.getBody().front();
    if (failed(run(block, values)))
      return failure();
    auto result = cast<ReturnOp>(block.getTerminator());
    SmallVector<Value> results;
    for (auto [value, declared] : llvm::zip(
             result.getValues(),
             cast<FunctionType>(function.getFunctionType()).getResults())) {
      results.push_back(values.lookup(value));
      if (results.back().getType() != *fill(declared))
        return result.emitOpError() << "returns " << results.back().getType()
                                    << ", but '@" << function.getSymName()
                                    << "' is declared to return " << declared;
    }
    return results;
  }

private:
  LogicalResult getVariable(Operation *user, SymbolRefAttr symbol,
                            Values &values) {
    FailureOr<Value> value = variable(user, symbol);
    if (succeeded(value))
      values[user->getResult(0)] = *value;
    return value;
  }
  FailureOr<Value> variable(Operation *user, SymbolRefAttr symbol) {
    auto group = model.lookupSymbol<VariablesOp>(symbol.getRootReference());
    if (!group)
      return user->emitOpError()
             << "names the variables '@" << symbol.getRootReference().getValue()
             << "', which the model does not have";
    for (auto [name, type] : llvm::zip(group.getNames(), group.getTypes()))
      if (cast<StringAttr>(name) == symbol.getLeafReference())
        return Value(GetOp::create(builder, user->getLoc(),
                                   cast<TypeAttr>(type).getValue(), symbol));
    InFlightDiagnostic error =
        user->emitOpError()
        << "names '" << symbol.getLeafReference().getValue() << "', which '@"
        << group.getSymName() << "' does not have";
    error.attachNote(group.getLoc()) << "the variables are declared here";
    return failure();
  }
  bool hasVariable(StringRef group, StringRef name) {
    auto variables = model.lookupSymbol<VariablesOp>(group);
    return variables && llvm::any_of(variables.getNames(), [&](Attribute a) {
             return cast<StringAttr>(a).getValue() == name;
           });
  }

  LogicalResult expandDense(DenseOp dense, Values &values) {
    auto symbol = [&](StringRef name) {
      return SymbolRefAttr::get(
          dense.getContext(), dense.getVariables(),
          {FlatSymbolRefAttr::get(dense.getContext(), name)});
    };
    FailureOr<Value> kernel = variable(dense, symbol("kernel"));
    if (failed(kernel))
      return failure();
    Value x = values.lookup(dense.getX());
    RuleBuilder rules(builder, dense.getLoc(), x);
    int64_t rank = tensorOf(x).getRank();
    if (tensorOf(*kernel).getRank() != 2 || rank < 1 ||
        tensorOf(x).getDimSize(rank - 1) != tensorOf(*kernel).getDimSize(0))
      return dense.emitOpError()
             << "multiplies " << x.getType() << " by the kernel of '@"
             << dense.getVariables() << "', " << kernel->getType()
             << ": the last dimension of the first must equal the first of the "
                "second";
    Term y =
        rules.op("mg.dot_general", {Term(x), Term(*kernel)},
                 {rules.attribute("contract_a", rules.attribute({rank - 1})),
                  rules.attribute("contract_b", rules.attribute({0}))});
    if (!y.value)
      return failure();
    if (hasVariable(dense.getVariables(), "bias")) {
      FailureOr<Value> bias = variable(dense, symbol("bias"));
      y = rules.add(y, Term(*bias));
      if (!y.value)
        return failure();
    }
    if (dense.getActivation()) {
      FailureOr<Value> activated =
          apply(dense, *dense.getActivation(), y.value);
      if (failed(activated))
        return failure();
      y = Term(*activated);
    }
    values[dense.getY()] = y.value;
    return success();
  }

  ModelOp model;
  OpBuilder &builder;
  int64_t unit;
  StringRef owner;
  unsigned ordinal = 0;
  SmallVector<FuncOp> stack;
};

/// Rows of a batch are independent: short batches are padded and units are
/// dealt to devices, so an op that mixes rows would see what is not there.
/// Follows the batch dimension through index maps; the error is at the op that
/// mixes.
class RowTracker {
public:
  LogicalResult run(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (tensorOf(argument).getRank() > 0)
        rowDim[argument] = 0;
    for (Operation &op : function.front())
      if (auto math = dyn_cast<MathOp>(op))
        if (failed(visit(math)))
          return failure();
    return success();
  }

private:
  LogicalResult visit(MathOp op) {
    IndexSpec spec = op.getIndexSpec();
    std::optional<unsigned> rowLetter;
    for (auto [operand, map] : llvm::zip(op->getOperands(), spec.operands)) {
      auto found = rowDim.find(operand);
      if (found == rowDim.end() || found->second >= map.getNumResults())
        continue;
      auto letter = dyn_cast<AffineDimExpr>(map.getResult(found->second));
      if (!letter || spec.kinds[letter.getPosition()] != LetterKind::Parallel ||
          (rowLetter && *rowLetter != letter.getPosition()))
        return op->emitOpError()
               << "mixes the rows of a batch, which depend on how rows are "
                  "dealt to devices: reduce or reorder dimensions other than "
                  "the batch";
      rowLetter = letter.getPosition();
    }
    if (!rowLetter)
      return success();
    for (auto [dim, expr] : llvm::enumerate(spec.results.front().getResults()))
      if (auto letter = dyn_cast<AffineDimExpr>(expr))
        if (letter.getPosition() == *rowLetter)
          rowDim[op->getResult(0)] = dim;
    return success();
  }

  llvm::DenseMap<Value, unsigned> rowDim;
};

struct InstantiateModel
    : PassWrapper<InstantiateModel, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InstantiateModel)
  InstantiateModel() = default;
  InstantiateModel(const InstantiateModel &other) : PassWrapper(other) {}
  explicit InstantiateModel(ArrayRef<int64_t> sizes) { units = sizes; }
  StringRef getArgument() const final { return "mg-instantiate-model"; }
  StringRef getDescription() const final {
    return "Turn mg.model into typed functions, one for each training, "
           "prediction and unit size";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<func::FuncDialect>();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<ModelOp> models(module.getOps<ModelOp>());
    if (models.size() != 1) {
      emitError(models.empty() ? module.getLoc() : models[1].getLoc())
          << "the file has " << models.size()
          << " models, expected one `mg.model @name { … }`";
      return signalPassFailure();
    }
    if (failed(checkUnits(models[0])) || failed(checkEntries(models[0])) ||
        failed(instantiateAll(models[0])))
      return signalPassFailure();
  }

private:
  LogicalResult checkUnits(ModelOp model) {
    if (units.empty())
      units = {64};
    llvm::sort(units);
    for (int64_t unit : units)
      if (unit < 1 || unit > (1 << 24))
        return model.emitError()
               << "batch size " << unit << " is outside 1 … 16777216";
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return success();
  }

  LogicalResult checkEntries(ModelOp model) {
    llvm::StringMap<PredictOp> predicts;
    for (auto predict : model.getBody().getOps<PredictOp>()) {
      auto [first, isNew] =
          predicts.try_emplace(predict.getFunction(), predict);
      if (isNew)
        continue;
      InFlightDiagnostic error = predict.emitOpError()
                                 << "predicts '@" << predict.getFunction()
                                 << "' a second time";
      error.attachNote(first->second.getLoc()) << "the first is here";
      return error;
    }
    if (predicts.empty() && model.getBody().getOps<TrainOp>().empty())
      return model.emitOpError(
          "has nothing to run: add mg.train or mg.predict");
    return success();
  }

  LogicalResult instantiateAll(ModelOp model) {
    ModuleOp module = getOperation();
    OpBuilder builder(model);
    module.setName(model.getSymName());
    SmallVector<Attribute> sizes;
    for (int64_t unit : units) {
      sizes.push_back(builder.getI64IntegerAttr(unit));
      for (Operation &op : *model.getBody().begin()) {
        if (auto train = dyn_cast<TrainOp>(op))
          if (failed(instantiateTrain(model, train, unit, builder)))
            return failure();
        if (auto predict = dyn_cast<PredictOp>(op))
          if (failed(instantiatePredict(model, predict, unit, builder)))
            return failure();
      }
    }
    module->setAttr("mg.units", builder.getArrayAttr(sizes));
    for (Operation &op : llvm::make_early_inc_range(*model.getBody().begin()))
      if (isa<VariablesOp, OptimizerOp>(op))
        op.moveBefore(model);
    model.erase();
    return success();
  }

  /// An empty function with the model function's arguments, filled to `unit`.
  func::FuncOp makeFunction(Operation *source, StringRef name,
                            FunctionType type, Region &body, int64_t unit,
                            OpBuilder &builder, Instantiation &instantiation,
                            Values &values) {
    SmallVector<Type> inputs;
    for (Type input : type.getInputs())
      inputs.push_back(*instantiation.fill(input));
    auto function = func::FuncOp::create(builder, source->getLoc(),
                                         (name + "." + Twine(unit)).str(),
                                         builder.getFunctionType(inputs, {}));
    function->setAttr("mg.unit", builder.getI64IntegerAttr(unit));
    Block *block = function.addEntryBlock();
    for (auto [argument, typed] :
         llvm::zip(body.getArguments(), block->getArguments())) {
      auto name = dyn_cast<NameLoc>(argument.getLoc());
      std::string text = name ? name.getName().str()
                              : ("arg" + Twine(typed.getArgNumber())).str();
      function.setArgAttr(typed.getArgNumber(), "mg.name",
                          builder.getStringAttr(text));
      typed.setLoc(argument.getLoc());
      values[argument] = typed;
    }
    return function;
  }

  LogicalResult instantiateTrain(ModelOp model, TrainOp train, int64_t unit,
                                 OpBuilder &outer) {
    OpBuilder builder(train.getContext());
    Instantiation instantiation(model, builder, unit, train.getSymName());
    Values values;
    func::FuncOp function = makeFunction(
        train, train.getSymName(), cast<FunctionType>(train.getFunctionType()),
        train.getBody(), unit, outer, instantiation, values);
    function->setAttr("mg.train", builder.getStringAttr(train.getSymName()));
    builder.setInsertionPointToStart(&function.front());
    if (failed(instantiation.run(train.getBody().front(), values)))
      return failure();
    func::ReturnOp::create(builder, train.getLoc());
    if (failed(RowTracker().run(function)))
      return failure();
    for (Operation &op : function.front())
      if (isa<MinimizeOp, MetricOp>(op) && failed(checkRows(&op, unit)))
        return failure();
    return success();
  }

  /// Objectives and metrics have a value a row; weights have the same shape and
  /// element type.
  LogicalResult checkRows(Operation *op, int64_t unit) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || type.getRank() < 1 || type.getDimSize(0) != unit ||
        !isa<FloatType>(type.getElementType()))
      return op->emitOpError()
             << "needs one float value or more a row, tensor<?x…>, found "
             << op->getOperand(0).getType() << " (one unit has " << unit
             << " rows)";
    if (op->getNumOperands() > 1 && op->getOperand(1).getType() != type)
      return op->emitOpError()
             << "has a weight of type " << op->getOperand(1).getType()
             << ", expected " << type;
    return success();
  }

  LogicalResult instantiatePredict(ModelOp model, PredictOp predict,
                                   int64_t unit, OpBuilder &outer) {
    auto callee = model.lookupSymbol<FuncOp>(predict.getFunction());
    if (!callee)
      return predict.emitOpError() << "names '@" << predict.getFunction()
                                   << "', but the model has no such function";
    OpBuilder builder(predict.getContext());
    Instantiation instantiation(model, builder, unit, predict.getFunction());
    Values values;
    func::FuncOp function =
        makeFunction(predict, predict.getFunction(),
                     cast<FunctionType>(callee.getFunctionType()),
                     callee.getBody(), unit, outer, instantiation, values);
    function->setAttr("mg.predict",
                      builder.getStringAttr(predict.getFunction()));
    builder.setInsertionPointToStart(&function.front());
    FailureOr<SmallVector<Value>> results = instantiation.body(callee, values);
    if (failed(results))
      return failure();
    if (predict.getActivation())
      for (Value &result : *results) {
        FailureOr<Value> activated =
            instantiation.apply(predict, *predict.getActivation(), result);
        if (failed(activated))
          return failure();
        result = *activated;
      }
    for (Value result : *results)
      if (tensorOf(result).getRank() < 1 ||
          tensorOf(result).getDimSize(0) != unit)
        return predict.emitOpError()
               << "needs a value a row, tensor<?x…>, but '@"
               << predict.getFunction() << "' gives " << result.getType();
    func::ReturnOp::create(builder, predict.getLoc(), *results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(*results).getTypes()));
    return RowTracker().run(function);
  }

  ListOption<int64_t> units{
      *this, "batch-size",
      llvm::cl::desc("Rows of a unit; several sizes share state and code")};
};

} // namespace

std::unique_ptr<Pass> createInstantiateModelPass(ArrayRef<int64_t> units) {
  return std::make_unique<InstantiateModel>(units);
}
void registerModelPasses() { PassRegistration<InstantiateModel>(); }

} // namespace mlir::mg
