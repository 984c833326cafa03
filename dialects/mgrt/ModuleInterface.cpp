// Reads `mg.interface`. A Record is one dictionary of it, with the path for
// messages ("variables[2]").
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mgrt/ModuleInterface.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::mgrt;

namespace {

/// The first missing or wrong field is reported; `failed` stays set. All
/// getters return a neutral value then.
class Record {
public:
  Record(ModuleOp module, DictionaryAttr fields, std::string path, bool &failed)
      : module(module), fields(fields), path(std::move(path)), failed(failed) {}

  StringRef text(StringRef name) {
    auto attr = get<StringAttr>(name, "a string");
    return attr ? attr.getValue() : StringRef();
  }
  RankedTensorType tensor(StringRef name) {
    auto attr = get<TypeAttr>(name, "a tensor type");
    auto type =
        attr ? dyn_cast<RankedTensorType>(attr.getValue()) : RankedTensorType();
    if (attr && !(type && type.hasStaticShape() &&
                  type.getElementType().isIntOrFloat()))
      report(name, "a static tensor type of integers or floats");
    return type;
  }
  int64_t integer(StringRef name) {
    auto attr = get<IntegerAttr>(name, "an integer");
    return attr ? attr.getValue().getSExtValue() : 0;
  }
  double real(StringRef name) {
    auto attr = get<FloatAttr>(name, "a float");
    return attr ? attr.getValueAsDouble() : 0;
  }
  bool flag(StringRef name) {
    auto attr = get<BoolAttr>(name, "true or false");
    return attr && attr.getValue();
  }
  /// The module's location if there is none.
  Location location() {
    auto attr = fields.getAs<LocationAttr>("loc");
    return attr ? Location(attr) : module.getLoc();
  }
  SmallVector<StringRef> texts(StringRef name) {
    SmallVector<StringRef> result;
    each(name, [&](Attribute element, const std::string &) {
      if (auto text = dyn_cast<StringAttr>(element))
        result.push_back(text.getValue());
      else
        report(name, "strings");
    });
    return result;
  }
  SmallVector<int64_t> integers(StringRef name) {
    SmallVector<int64_t> result;
    each(name, [&](Attribute element, const std::string &) {
      if (auto integer = dyn_cast<IntegerAttr>(element))
        result.push_back(integer.getInt());
      else
        report(name, "integers");
    });
    return result;
  }
  /// read(Record) for each dictionary of a list; its results.
  template <typename Read> auto records(StringRef name, Read read) {
    SmallVector<std::invoke_result_t<Read, Record &>> result;
    each(name, [&](Attribute element, const std::string &elementPath) {
      auto dictionary = dyn_cast<DictionaryAttr>(element);
      if (!dictionary)
        return report(name, "dictionaries");
      Record record(module, dictionary, elementPath, failed);
      result.push_back(read(record));
    });
    return result;
  }

private:
  template <typename Visit> void each(StringRef name, Visit visit) {
    if (!fields.get(name))
      return;
    auto list = get<ArrayAttr>(name, "a list");
    if (!list)
      return;
    for (auto [index, element] : llvm::enumerate(list))
      visit(element, (llvm::Twine(path) + (path.empty() ? "" : ".") + name +
                      "[" + llvm::Twine(index) + "]")
                         .str());
  }
  template <typename Attr> Attr get(StringRef name, StringRef expected) {
    auto attr = fields.getAs<Attr>(name);
    if (!attr)
      report(name, expected);
    return attr;
  }
  void report(StringRef name, StringRef expected) {
    if (failed)
      return;
    failed = true;
    auto diagnostic = module.emitError("mg.interface: expected ")
                      << expected << " as '" << path
                      << (path.empty() ? "" : ".") << name << "', found ";
    if (Attribute found = fields.get(name))
      diagnostic << found;
    else
      diagnostic << "nothing";
  }

  ModuleOp module;
  DictionaryAttr fields;
  std::string path;
  bool &failed;
};

VariableInfo readVariable(Record &r) {
  return {r.text("name"), r.tensor("type"), r.flag("trainable"), r.location()};
}
ScalarInfo readScalar(Record &r) {
  return {r.text("name"), r.text("owner"), r.tensor("type"), r.real("value")};
}
SlotInfo readSlot(Record &r) {
  return {r.text("name"), r.text("variable"), r.text("owner"),
          r.tensor("type")};
}
RowsInfo readRows(Record &r) {
  return {r.text("name"), r.tensor("type"), r.location()};
}
CheckInfo readCheck(Record &r) {
  return {r.text("name"),       r.text("input"),   r.integer("minimum"),
          r.integer("maximum"), r.text("message"), r.location()};
}
TrainInfo readTrain(Record &r) {
  return {r.text("name"), r.texts("inputs"), r.texts("metrics"),
          r.records("checks", readCheck)};
}
PredictInfo readPredict(Record &r) {
  return {r.text("name"), r.texts("inputs"), r.texts("outputs"),
          r.records("checks", readCheck)};
}

} // namespace

FailureOr<ModuleInterface> mgrt::readInterface(ModuleOp module) {
  auto fields = module->getAttrOfType<DictionaryAttr>("mg.interface");
  if (!fields)
    return module.emitError("expected a module with 'mg.interface'");
  bool isBad = false;
  Record root(module, fields, "", isBad);
  ModuleInterface result{
      root.records("variables", readVariable),
      root.records("scalars", readScalar),
      root.records("slots", readSlot),
      root.records("inputs", readRows),
      root.records("outputs", readRows),
      root.records("trains", readTrain),
      root.records("predicts", readPredict),
      root.integers("units"),
  };
  if (isBad)
    return failure();
  if (result.units.empty() || result.units.front() <= 0 ||
      !llvm::is_sorted(result.units, std::less_equal<int64_t>()))
    return module.emitError(
        "mg.interface: expected 'units' to be positive and ascending");
  return result;
}
