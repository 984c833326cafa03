// --mg-build-entries: which entries a model has, in order: init, each
// training's accumulate_first, accumulate, evaluate (a unit size each) and
// update, each prediction's predict. Leaves `mg.interface` (RATIONALE C1).
// Start at runOnOperation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/Adjoint.h"
#include "compiler/autodiff/Initializers.h"
#include "compiler/autodiff/OptimizerUpdate.h"
#include "compiler/autodiff/Passes.h"

#include <set>

namespace mlir::mg {
namespace {

struct Variable {
  std::string name;
  RankedTensorType type;
  VariablesOp group;
  size_t index;
};

using Records = SmallVector<Attribute>;

struct BuildEntries : PassWrapper<BuildEntries, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BuildEntries)
  StringRef getArgument() const final { return "mg-build-entries"; }
  StringRef getDescription() const final {
    return "Differentiate each training and build the entries that the runtime "
           "calls";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<func::FuncDialect>();
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    collectVariables();
    if (functions.empty()) {
      module.emitError(
          "the model has nothing to run: add mg.train or mg.predict");
      return signalPassFailure();
    }
    for (func::FuncOp function : functions)
      if (failed(checkSource(function)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      if (failed(function->hasAttr("mg.train") ? buildTrain(function)
                                               : buildPredict(function)))
        return signalPassFailure();
    if (failed(buildInit(functions.front())))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      function.erase();
    setInterface();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<VariablesOp, OptimizerOp>(op))
        op.erase();
  }

private:
  /// What the model stage leaves: static units, named inputs, variables of the
  /// types that their groups give. Text may come from elsewhere.
  LogicalResult checkSource(func::FuncOp function) {
    auto name = [&](StringRef attribute) {
      return function->getAttrOfType<StringAttr>(attribute);
    };
    if (function.isDeclaration() || !function.getBody().hasOneBlock() ||
        !function->getAttrOfType<IntegerAttr>("mg.unit") ||
        (!name("mg.train") && !name("mg.predict")))
      return function.emitOpError(
          "is no mg.train or mg.predict that the model stage gave: is this the "
          "text of another stage? Name that one with --from");
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || !type.hasStaticShape() || type.getRank() < 1 ||
          !function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                 "mg.name"))
        return emitError(argument.getLoc())
               << "argument #" << argument.getArgNumber()
               << " is no named input of static shape, found "
               << argument.getType();
    }
    WalkResult walked = function.walk([&](GetOp get) {
      return succeeded(checkGet(get)) ? WalkResult::advance()
                                      : WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }
  LogicalResult checkGet(GetOp get) {
    std::string path = (get.getVariable().getRootReference().getValue() + "." +
                        get.getVariable().getLeafReference().getValue())
                           .str();
    for (const Variable &variable : variables)
      if (variable.name == path) {
        if (variable.type == get.getY().getType())
          return success();
        return get.emitOpError()
               << "gives " << get.getY().getType() << ", but variable '" << path
               << "' is " << variable.type;
      }
    return get.emitOpError()
           << "names '" << path << "', which the model does not have";
  }

  void collectVariables() {
    for (VariablesOp group : getOperation().getOps<VariablesOp>())
      for (auto [i, name] : llvm::enumerate(group.getNames())) {
        auto type = cast<RankedTensorType>(
            cast<TypeAttr>(group.getTypes()[i]).getValue());
        variables.push_back(
            {(group.getSymName() + "." + cast<StringAttr>(name).getValue())
                 .str(),
             type, group, i});
      }
  }

  //===-- Training

  LogicalResult buildTrain(func::FuncOp source) {
    StringRef owner = source->getAttrOfType<StringAttr>("mg.train").getValue();
    if (failed(collectInputs(source)))
      return failure();
    for (bool first : {true, false})
      if (failed(buildAccumulate(source, owner, first)))
        return failure();
    if (failed(buildEvaluate(source, owner)))
      return failure();
    if (!updated.insert(owner.str()).second)
      return success();
    return buildUpdateOf(source, owner);
  }

  /// The objective and metrics of a cloned forward pass, as (name, value,
  /// weight); [0] is the objective.
  struct Reported {
    std::string name;
    Value value, weight;
  };
  static SmallVector<Reported> reported(Block &block) {
    SmallVector<Reported> list(1);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto minimize = dyn_cast<MinimizeOp>(op))
        list[0] = {"loss", minimize.getX(), minimize.getWeight()};
      else if (auto metric = dyn_cast<MetricOp>(op))
        list.push_back(
            {metric.getName().str(), metric.getX(), metric.getWeight()});
      else
        continue;
      op.erase();
    }
    return list;
  }

  static std::string unitName(StringRef owner, StringRef entry, int64_t unit) {
    return (owner + "." + entry + "." + Twine(unit)).str();
  }
  static int64_t unitOf(func::FuncOp source) {
    return source->getAttrOfType<IntegerAttr>("mg.unit").getInt();
  }

  LogicalResult buildAccumulate(func::FuncOp source, StringRef owner,
                                bool first) {
    int64_t unit = unitOf(source);
    StringRef role = first ? "accumulate_first" : "accumulate";
    EntryBuilder entry(source, source.getLoc(), unitName(owner, role, unit),
                       role, owner, unit);
    entry.cloneForward(source);
    SmallVector<Value> records;
    for (const IndexCheck &check : findChecks(entry.block(), unit))
      records.push_back(checkRecord(entry, check));
    if (failed(expandForMode(entry.block(), /*training=*/true)))
      return failure();
    SmallVector<Reported> list = reported(entry.block());
    if (failed(addGradients(entry, list[0], first)))
      return failure();
    for (const Reported &item : list)
      addSums(entry, item, "metric_window", first);
    for (auto [i, record] : llvm::enumerate(records))
      addRecord(entry, record, i, "check_window", first);
    entry.finish();
    return success();
  }

  LogicalResult addGradients(EntryBuilder &entry, const Reported &objective,
                             bool first) {
    SmallVector<Value> wanted;
    for (Variable &variable : variables)
      wanted.push_back(entry.argument(variable.type, "variable", variable.name,
                                      variable.group.getLoc()));
    RuleBuilder b = entry.rules(objective.value);
    Value weight = objective.weight ? objective.weight
                                    : b.like(Term(1.0), Term(objective.value),
                                             Term(objective.value))
                                          .value;
    FailureOr<SmallVector<Value>> gradients =
        adjoint(entry.body(), objective.value, maskRows(entry, weight), wanted,
                warnedOps);
    if (failed(gradients))
      return failure();
    for (auto [variable, argument, found] :
         llvm::zip(variables, wanted, *gradients)) {
      RuleBuilder rules = entry.rules(argument);
      Value gradient = found;
      if (!gradient) {
        if (first && warned.insert(variable.name).second)
          variable.group.emitWarning()
              << "variable '" << variable.name
              << "' has no path to the loss: its gradient is zero and it will "
                 "not change";
        gradient = rules.value(Term(0.0));
      }
      if (!first)
        gradient = rules
                       .add(Term(entry.argument(
                                variable.type, "gradient", variable.name,
                                renamed(variable.group.getLoc(),
                                        "sum_" + variable.name))),
                            Term(gradient))
                       .value;
      entry.result(gradient, "gradient", variable.name);
    }
    return success();
  }

  void addSums(EntryBuilder &entry, const Reported &item, StringRef role,
               bool first) {
    Value sums = weightedSums(entry, item.value, item.weight);
    if (!first) {
      RuleBuilder b = entry.rules(sums);
      sums = b.add(Term(entry.argument(sums.getType(), role, item.name,
                                       item.value.getLoc())),
                   Term(sums))
                 .value;
    }
    entry.result(sums, role, item.name);
  }
  void addRecord(EntryBuilder &entry, Value record, size_t number,
                 StringRef role, bool first) {
    std::string name = std::to_string(number);
    if (!first)
      record = worseRecord(
          entry, entry.argument(record.getType(), role, name, entry.getLoc()),
          record);
    entry.result(record, role, name);
  }

  LogicalResult buildEvaluate(func::FuncOp source, StringRef owner) {
    int64_t unit = unitOf(source);
    EntryBuilder entry(source, source.getLoc(),
                       unitName(owner, "evaluate", unit), "evaluate", owner,
                       unit);
    entry.cloneForward(source);
    SmallVector<Value> records;
    for (const IndexCheck &check : findChecks(entry.block(), unit))
      records.push_back(checkRecord(entry, check));
    if (failed(expandForMode(entry.block(), /*training=*/false)))
      return failure();
    for (const Reported &item : reported(entry.block()))
      addSums(entry, item, "metric_evaluation", /*first=*/false);
    for (auto [i, record] : llvm::enumerate(records))
      addRecord(entry, record, i, "check_evaluation", /*first=*/false);
    entry.finish();
    return success();
  }

  LogicalResult buildUpdateOf(func::FuncOp source, StringRef owner) {
    MinimizeOp minimize = *source.front().getOps<MinimizeOp>().begin();
    bool allDouble = llvm::all_of(variables, [](const Variable &v) {
      return v.type.getElementType().isF64();
    });
    FailureOr<OptimizerBinding> binding = bindOptimizer(
        getOperation(), minimize, allDouble && !variables.empty());
    if (failed(binding))
      return failure();
    if (variables.empty())
      return minimize.emitOpError(
          "has nothing to train: the model has no mg.variables");
    UpdateInputs inputs;
    inputs.metrics.push_back("loss");
    for (MetricOp metric : source.front().getOps<MetricOp>())
      inputs.metrics.push_back(metric.getName().str());
    for (Variable &variable : variables) {
      inputs.variables.emplace_back(variable.name, variable.type);
      inputs.locations.push_back(variable.group.getLoc());
    }
    SmallVector<IndexCheck> checks = findChecks(source.front(), unitOf(source));
    for (size_t i = 0; i < checks.size(); ++i)
      inputs.checks.push_back(std::to_string(i));
    describeTrain(source, owner, *binding, inputs, checks);
    return buildUpdate(source, owner, *binding, inputs);
  }

  //===-- Init and predict

  LogicalResult buildInit(Operation *at) {
    EntryBuilder entry(at, getOperation().getLoc(), "init", "init", "", 0);
    Value seed = entry.control(Control::seed);
    for (Variable &variable : variables) {
      FailureOr<Value> value = buildInitializer(
          entry.body(), variable.group, variable.index, variable.name, seed);
      if (failed(value))
        return failure();
      entry.result(*value, "variable", variable.name);
    }
    RuleBuilder b = entry.rules(seed);
    for (auto &[name, type, initial] : slotValues) {
      Value like = ConstantOp::create(
          entry.body(), entry.getLoc(), type,
          DenseElementsAttr::get(
              type, Attribute(FloatAttr::get(type.getElementType(), initial))));
      entry.result(like, "slot", name);
    }
    entry.result(b.like(Term(0.0), Term(seed), Term(seed)).value, "step", "");
    entry.finish();
    return success();
  }

  LogicalResult buildPredict(func::FuncOp source) {
    StringRef owner =
        source->getAttrOfType<StringAttr>("mg.predict").getValue();
    if (failed(collectInputs(source)))
      return failure();
    int64_t unit = unitOf(source);
    EntryBuilder entry(source, source.getLoc(),
                       unitName(owner, "predict", unit), "predict", owner,
                       unit);
    SmallVector<Value> outputs = entry.cloneForward(source);
    SmallVector<Value> records;
    for (const IndexCheck &check : findChecks(entry.block(), unit))
      records.push_back(checkRecord(entry, check));
    // Expansion replaces values, so the outputs wait as operands of a
    // terminator.
    auto holder =
        func::ReturnOp::create(entry.body(), source.getLoc(), outputs);
    LogicalResult expanded = expandForMode(entry.block(), /*training=*/false);
    SmallVector<Value> values(holder.getOperands());
    holder.erase();
    entry.body().setInsertionPointToEnd(&entry.block());
    if (failed(expanded))
      return failure();
    SmallVector<std::string> names;
    for (auto [i, value] : llvm::enumerate(values)) {
      names.push_back(values.size() == 1 ? owner.str()
                                         : (owner + "." + Twine(i)).str());
      entry.result(value, "output", names.back());
    }
    for (auto [i, record] : llvm::enumerate(records))
      addRecord(entry, record, i, "check_evaluation", /*first=*/false);
    entry.finish();
    if (predicted.insert(owner.str()).second)
      describePredict(source, owner, names, findChecks(source.front(), unit));
    return success();
  }
  //===-- mg.interface

  NamedAttribute named(StringRef name, Attribute value) {
    return NamedAttribute(StringAttr::get(&getContext(), name), value);
  }
  Attribute text(const Twine &value) {
    return StringAttr::get(&getContext(), value);
  }
  Attribute record(ArrayRef<NamedAttribute> fields) {
    return DictionaryAttr::get(&getContext(), fields);
  }
  Attribute list(ArrayRef<std::string> names) {
    Records items;
    for (const std::string &name : names)
      items.push_back(text(name));
    return ArrayAttr::get(&getContext(), items);
  }
  static Attribute rowType(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return TypeAttr::get(RankedTensorType::get(tensor.getShape().drop_front(),
                                               tensor.getElementType()));
  }

  static StringRef inputName(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function
        .getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mg.name")
        .getValue();
  }
  /// One array is given for a name, so all inputs of a name have one type.
  LogicalResult collectInputs(func::FuncOp source) {
    for (BlockArgument argument : source.getArguments()) {
      StringRef name = inputName(argument);
      Attribute type = rowType(argument.getType());
      auto [known, isNew] = inputs.try_emplace(name, type, argument.getLoc());
      if (isNew)
        inputRecords.push_back(
            record({named("name", text(name)), named("type", type),
                    named("loc", argument.getLoc())}));
      if (known->second.first == type)
        continue;
      InFlightDiagnostic error =
          emitError(argument.getLoc())
          << "input '" << name << "' has rows of type " << type
          << ", but another input of this name has rows of type "
          << known->second.first << "; give one of them another name";
      error.attachNote(known->second.second) << "declared here";
      return error;
    }
    return success();
  }
  Attribute describeInputs(func::FuncOp source) {
    Records names;
    for (BlockArgument argument : source.getArguments())
      names.push_back(text(inputName(argument)));
    return ArrayAttr::get(&getContext(), names);
  }
  Attribute describeChecks(ArrayRef<IndexCheck> checks) {
    Records items;
    for (auto [i, check] : llvm::enumerate(checks))
      items.push_back(record(
          {named("name", text(Twine(i))),
           named("input", text(nameOf(check.positions))),
           named("minimum",
                 IntegerAttr::get(IntegerType::get(&getContext(), 64), 0)),
           named("maximum",
                 IntegerAttr::get(IntegerType::get(&getContext(), 64),
                                  check.extent - 1)),
           named("message",
                 text(check.user->getName().getStringRef() +
                      " needs positions from 0 to " + Twine(check.extent - 1))),
           named("loc", check.user->getLoc())}));
    return ArrayAttr::get(&getContext(), items);
  }

  void describeTrain(func::FuncOp source, StringRef owner,
                     const OptimizerBinding &binding,
                     const UpdateInputs &update, ArrayRef<IndexCheck> checks) {
    trainRecords.push_back(record({named("name", text(owner)),
                                   named("inputs", describeInputs(source)),
                                   named("metrics", list(update.metrics)),
                                   named("checks", describeChecks(checks))}));
    auto scalar = TypeAttr::get(RankedTensorType::get({}, binding.scalarType));
    for (const OptimizerBinding::Scalar &item : binding.scalars)
      scalarRecords.push_back(
          record({named("name", text(item.name)), named("owner", text(owner)),
                  named("type", scalar),
                  named("value", FloatAttr::get(Float64Type::get(&getContext()),
                                                item.value))}));
    for (const OptimizerBinding::Slot &slot : binding.slots)
      for (Variable &variable : variables) {
        std::string name = (slot.name + "/" + variable.name).str();
        slotRecords.push_back(record(
            {named("name", text(name)), named("variable", text(variable.name)),
             named("owner", text(owner)),
             named("type", TypeAttr::get(variable.type))}));
        slotValues.push_back({name, variable.type, slot.initial});
      }
  }
  void describePredict(func::FuncOp source, StringRef owner,
                       ArrayRef<std::string> names,
                       ArrayRef<IndexCheck> checks) {
    for (auto [name, type] : llvm::zip(names, source.getResultTypes()))
      outputRecords.push_back(
          record({named("name", text(name)), named("type", rowType(type))}));
    predictRecords.push_back(record({named("name", text(owner)),
                                     named("inputs", describeInputs(source)),
                                     named("outputs", list(names)),
                                     named("checks", describeChecks(checks))}));
  }

  void setInterface() {
    Records variableRecords;
    for (Variable &variable : variables)
      variableRecords.push_back(
          record({named("name", text(variable.name)),
                  named("type", TypeAttr::get(variable.type)),
                  named("trainable", BoolAttr::get(&getContext(), true)),
                  named("loc", variable.group.getLoc())}));
    auto array = [&](const Records &items) {
      return ArrayAttr::get(&getContext(), items);
    };
    ModuleOp module = getOperation();
    module->setAttr("mg.interface",
                    record({named("variables", array(variableRecords)),
                            named("scalars", array(scalarRecords)),
                            named("slots", array(slotRecords)),
                            named("inputs", array(inputRecords)),
                            named("outputs", array(outputRecords)),
                            named("trains", array(trainRecords)),
                            named("predicts", array(predictRecords)),
                            named("units", module->getAttr("mg.units"))}));
    module->removeAttr("mg.units");
  }

  struct SlotValue {
    std::string name;
    RankedTensorType type;
    double initial;
  };
  SmallVector<Variable> variables;
  SmallVector<SlotValue> slotValues;
  std::set<std::string> updated, warned, predicted;
  llvm::StringMap<std::pair<Attribute, Location>> inputs; // row type, where
  llvm::DenseSet<Location> warnedOps; // a training is differentiated twice
  Records scalarRecords, slotRecords, inputRecords, outputRecords, trainRecords,
      predictRecords;
};

} // namespace

std::unique_ptr<Pass> createBuildEntriesPass() {
  return std::make_unique<BuildEntries>();
}
void registerAutodiffPasses() { PassRegistration<BuildEntries>(); }

} // namespace mlir::mg
