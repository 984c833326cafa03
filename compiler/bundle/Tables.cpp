// The tables of `mg.interface` and of the state layout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bundle/Tables.h"

#include "compiler/bundle/Locations.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mgrt;
namespace schema = ::mg::schema;

static std::optional<schema::DType> toIntegerDType(IntegerType type) {
  using enum schema::DType;
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return Bool;
  case 8:
    return isUnsigned ? U8 : I8;
  case 16:
    return isUnsigned ? U16 : I16;
  case 32:
    return isUnsigned ? U32 : I32;
  case 64:
    return isUnsigned ? U64 : I64;
  default:
    return {};
  }
}

std::optional<schema::DType> mlir::mg::toDType(Type element) {
  using Result = std::optional<schema::DType>;
  return TypeSwitch<Type, Result>(element)
      .Case([](Float32Type) { return Result(schema::DType::F32); })
      .Case([](Float64Type) { return Result(schema::DType::F64); })
      .Case([](Float16Type) { return Result(schema::DType::F16); })
      .Case([](BFloat16Type) { return Result(schema::DType::BF16); })
      .Case([](IntegerType type) { return toIntegerDType(type); })
      .Default([](Type) { return Result(); });
}

namespace {

class InterfaceTables {
public:
  InterfaceTables(ModuleOp module, StateOp state,
                  mlir::mg::LocationTable &locations,
                  const ModuleInterface &interface, schema::BundleT &bundle)
      : module(module), state(state), locations(locations),
        interface(interface), bundle(bundle) {}

  LogicalResult build() {
    bundle.name = module.getName().value_or("model").str();
    bundle.compiler = "mgc " MG_VERSION;
    bundle.state_bytes = state.getBytes();
    for (int64_t unit : interface.units)
      bundle.units.push_back(static_cast<uint32_t>(unit));
    if (auto source = module->getAttrOfType<StringAttr>("mg.source"))
      bundle.source = source.str();
    for (const TrainInfo &train : interface.trains)
      addTrain(train);
    for (const PredictInfo &predict : interface.predicts)
      addPredict(predict);
    addControl();
    addVariables();
    addSlots();
    addScalars();
    addRows();
    return success(!hasFailed);
  }

private:
  InFlightDiagnostic fail(Location location) {
    hasFailed = true;
    return emitError(location);
  }

  ArrayOp find(ArrayRole role, StringRef name, StringRef owner) {
    ArrayOp array = state.findArray(role, name, owner);
    if (!array)
      fail(module.getLoc()) << "the state holds no " << stringifyArrayRole(role)
                            << " '" << name << "': run mg-assign-state again";
    return array;
  }
  uint64_t offsetOf(ArrayRole role, StringRef name, StringRef owner) {
    ArrayOp array = find(role, name, owner);
    return array ? array.getOffset() : 0;
  }

  template <typename List>
  int indexOf(const List &list, StringRef name, StringRef what,
              StringRef user) {
    for (auto [index, element] : llvm::enumerate(list))
      if (element.name == name)
        return int(index);
    fail(module.getLoc()) << "mg.interface: '" << user << "' names the " << what
                          << " '" << name << "', which is not declared";
    return 0;
  }

  std::unique_ptr<schema::ArrayT> toArray(ArrayOp array, StringRef name) {
    auto table = std::make_unique<schema::ArrayT>();
    RankedTensorType type = array.getTensorType();
    std::optional<schema::DType> dtype =
        mlir::mg::toDType(type.getElementType());
    if (!dtype)
      fail(array.getLoc()) << "cannot store '" << name << "' of dtype "
                           << type.getElementType();
    table->name = name.str();
    table->dtype = dtype.value_or(schema::DType::F32);
    table->shape.assign(type.getShape().begin(), type.getShape().end());
    table->offset = array.getOffset();
    table->bytes = array.getByteSize();
    return table;
  }
  std::unique_ptr<schema::ArrayT> toArray(ArrayRole role, StringRef name,
                                          StringRef owner = "") {
    ArrayOp array = find(role, name, owner);
    return array ? toArray(array, name) : std::make_unique<schema::ArrayT>();
  }

  void addControl() {
    auto offset = [&](ArrayRole role) {
      return offsetOf(role, stringifyArrayRole(role), "");
    };
    bundle.control = std::make_unique<schema::Control>(
        offset(ArrayRole::Seed), offset(ArrayRole::Step),
        offset(ArrayRole::Row0), offset(ArrayRole::Rows));
  }

  void addVariables() {
    for (const VariableInfo &info : interface.variables) {
      auto table = std::make_unique<schema::VariableT>();
      table->array = toArray(ArrayRole::Variable, info.name);
      table->trainable = info.trainable;
      table->location = locations.index(info.location);
      bundle.variables.push_back(std::move(table));
    }
  }

  void addSlots() {
    for (const SlotInfo &info : interface.slots) {
      auto table = std::make_unique<schema::SlotT>();
      table->array = toArray(ArrayRole::Slot, info.name, info.owner);
      table->variable =
          indexOf(interface.variables, info.variable, "variable", info.name);
      table->train = indexOf(interface.trains, info.owner, "train", info.name);
      bundle.slots.push_back(std::move(table));
    }
  }

  void addScalars() {
    for (const ScalarInfo &info : interface.scalars) {
      auto table = std::make_unique<schema::ScalarT>();
      table->array = toArray(ArrayRole::Scalar, info.name, info.owner);
      table->train = indexOf(interface.trains, info.owner, "train", info.name);
      table->value = info.value;
      bundle.scalars.push_back(std::move(table));
    }
  }

  void addRows() {
    for (const RowsInfo &info : interface.inputs) {
      auto table = std::make_unique<schema::InputT>();
      table->array = toArray(ArrayRole::Input, info.name);
      table->row_bytes = tensorSizeBytes(info.row);
      table->location = locations.index(info.location);
      bundle.inputs.push_back(std::move(table));
    }
    for (const RowsInfo &info : interface.outputs) {
      auto table = std::make_unique<schema::OutputT>();
      table->array = toArray(ArrayRole::Output, info.name);
      table->row_bytes = tensorSizeBytes(info.row);
      bundle.outputs.push_back(std::move(table));
    }
  }

  /// A predict has no window; both offsets are its record.
  std::unique_ptr<schema::CheckT> toCheck(const CheckInfo &info,
                                          StringRef owner, ArrayRole window) {
    auto table = std::make_unique<schema::CheckT>();
    table->window = offsetOf(window, info.name, owner);
    table->evaluation = offsetOf(ArrayRole::CheckEvaluation, info.name, owner);
    table->input = info.input.str();
    table->minimum = info.minimum;
    table->maximum = info.maximum;
    table->location = locations.index(info.location);
    table->message = info.message.str();
    return table;
  }

  void addTrain(const TrainInfo &info) {
    auto table = std::make_unique<schema::TrainT>();
    table->name = info.name.str();
    for (StringRef input : info.inputs)
      table->inputs.push_back(
          indexOf(interface.inputs, input, "input", info.name));
    for (StringRef name : info.metrics) {
      auto metric = std::make_unique<schema::MetricT>();
      metric->name = name.str();
      metric->window = offsetOf(ArrayRole::MetricWindow, name, info.name);
      metric->epoch = offsetOf(ArrayRole::MetricEpoch, name, info.name);
      metric->evaluation =
          offsetOf(ArrayRole::MetricEvaluation, name, info.name);
      table->metrics.push_back(std::move(metric));
    }
    for (const CheckInfo &check : info.checks)
      table->checks.push_back(
          toCheck(check, info.name, ArrayRole::CheckWindow));
    addWindows(info, *table);
    addSums(info, *table);
    bundle.trains.push_back(std::move(table));
  }

  void addWindows(const TrainInfo &info, schema::TrainT &table) {
    auto toRange = [](RangeAttr range) {
      return std::make_unique<schema::Range>(
          schema::Region::State, range.getOffset(), range.getBytes());
    };
    for (auto window : state.getBody().getOps<WindowOp>()) {
      if (window.getOwner() != info.name)
        continue;
      table.window = toRange(window.getSums());
      table.epoch = toRange(window.getEpoch());
      table.evaluation = toRange(window.getEvaluation());
      return;
    }
    fail(module.getLoc()) << "the state holds no window of '" << info.name
                          << "': run mg-assign-state again";
  }

  void addSums(const TrainInfo &info, schema::TrainT &table) {
    for (auto array : state.getBody().getOps<ArrayOp>()) {
      bool isSum = array.getRole() == ArrayRole::Gradient ||
                   array.getRole() == ArrayRole::MetricWindow;
      if (!isSum || array.getOwner() != info.name)
        continue;
      std::optional<schema::DType> dtype =
          mlir::mg::toDType(array.getTensorType().getElementType());
      if (!dtype) {
        fail(array.getLoc()) << "the sum '" << array.getArrayName()
                             << "' has a type that no bundle holds";
        return;
      }
      table.sums.emplace_back(*dtype, array.getOffset(), array.getByteSize());
    }
  }

  void addPredict(const PredictInfo &info) {
    auto table = std::make_unique<schema::PredictT>();
    table->name = info.name.str();
    for (StringRef input : info.inputs)
      table->inputs.push_back(
          indexOf(interface.inputs, input, "input", info.name));
    for (StringRef output : info.outputs)
      table->outputs.push_back(
          indexOf(interface.outputs, output, "output", info.name));
    for (const CheckInfo &check : info.checks)
      table->checks.push_back(
          toCheck(check, info.name, ArrayRole::CheckEvaluation));
    bundle.predicts.push_back(std::move(table));
  }

  ModuleOp module;
  StateOp state;
  mlir::mg::LocationTable &locations;
  const ModuleInterface &interface;
  schema::BundleT &bundle;
  bool hasFailed = false;
};

} // namespace

FailureOr<schema::BundleT> mlir::mg::buildTables(ModuleOp module) {
  FailureOr<ModuleInterface> interface = readInterface(module);
  if (failed(interface))
    return failure();
  StateOp state = StateOp::find(module);
  if (!state)
    return module.emitError("expected a state layout: run mg-assign-state");
  schema::BundleT bundle;
  LocationTable locations;
  if (failed(InterfaceTables(module, state, locations, *interface, bundle)
                 .build()) ||
      failed(CommandTables(module, locations, *interface).build(bundle)))
    return failure();
  bundle.locations = locations.take();
  return bundle;
}
