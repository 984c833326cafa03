// Reads entry functions: attributes, arrays, and the ops allowed in them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/EntryInput.h"

#include "dialects/mg/Mg.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"

using namespace mlir;
using namespace mlir::mg;
using namespace mlir::mgrt;

//===-- Ops
//----------------------------------------------------------------===//

bool mg::isEntry(func::FuncOp function) {
  return function->hasAttr("mg.entry");
}

bool mg::isLaunch(Operation *op) { return isa<mg::LaunchOp>(op); }

bool mg::isAllReduce(Operation *op) { return isa<shard::AllReduceOp>(op); }

static bool isView(Operation *op) { return isa<mg::ReshapeOp>(op); }

FlatSymbolRefAttr mg::getKernel(Operation *launch) {
  return cast<mg::LaunchOp>(launch).getKernelAttr();
}

bool mg::mayShare(Operation *command, unsigned operand, unsigned result) {
  if (isAllReduce(command))
    return true;
  ArrayAttr pairs = cast<mg::LaunchOp>(command).getInplaceAttr();
  if (!pairs)
    return false;
  return llvm::any_of(pairs, [&](Attribute pair) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(pair);
    return numbers && numbers.size() == 2 && numbers[0] == operand &&
           numbers[1] == result;
  });
}

Value mg::getRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

SmallVector<OpOperand *> mg::getUses(Value root) {
  SmallVector<OpOperand *> uses;
  SmallVector<Value> open{root};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses())
      if (isView(use.getOwner()))
        open.push_back(use.getOwner()->getResult(0));
      else
        uses.push_back(&use);
  return uses;
}

FailureOr<Reduction> mg::readReduction(Operation *op) {
  auto allReduce = cast<shard::AllReduceOp>(op);
  if (allReduce.getInput().getType() != allReduce.getResult().getType())
    return op->emitOpError("cannot change the type while reducing");
  SymbolTableCollection symbols;
  auto grid = symbols.lookupNearestSymbolFrom<shard::GridOp>(
      op, allReduce.getGridAttr());
  if (!grid)
    return op->emitOpError("found no grid @") << allReduce.getGrid();
  size_t rank = grid.getShape().size();
  // No axes means all of them.
  size_t axes = allReduce.getGridAxes().size();
  if (axes != 0 && axes != rank)
    return op->emitOpError("reduces over ")
           << axes << " of " << rank
           << " grid axes, but a bundle can only reduce over all devices";
  switch (allReduce.getReduction()) {
  case shard::ReductionKind::Sum:
    return Reduction::Sum;
  case shard::ReductionKind::Max:
    return Reduction::Max;
  case shard::ReductionKind::Min:
    return Reduction::Min;
  case shard::ReductionKind::Product:
    return Reduction::Prod;
  default:
    return op->emitOpError("has reduction ")
           << shard::stringifyReductionKind(allReduce.getReduction())
           << ", expected sum, max, min or product";
  }
}

//===-- Arrays
//-------------------------------------------------------------===//

static bool isOwned(ArrayRole role) {
  switch (role) {
  case ArrayRole::Gradient:
  case ArrayRole::Slot:
  case ArrayRole::Scalar:
  case ArrayRole::MetricWindow:
  case ArrayRole::MetricEpoch:
  case ArrayRole::MetricEvaluation:
  case ArrayRole::CheckWindow:
  case ArrayRole::CheckEvaluation:
    return true;
  default:
    return false;
  }
}

static bool isControl(ArrayRole role) {
  return role == ArrayRole::Seed || role == ArrayRole::Step ||
         role == ArrayRole::Row0 || role == ArrayRole::Rows;
}

static bool hasRows(ArrayRole role) {
  return role == ArrayRole::Input || role == ArrayRole::Output;
}

RangeAttr mg::getRange(ArrayOp array, Type type) {
  std::string name = array.getArrayName().str();
  if (array.getRole() != ArrayRole::Variable && !isControl(array.getRole()))
    name = (stringifyArrayRole(array.getRole()) + " " + name).str();
  return RangeAttr::get(array.getContext(), mgrt::Region::State,
                        array.getOffset(),
                        tensorSizeBytes(cast<RankedTensorType>(type)),
                        StringAttr::get(array.getContext(), name));
}

/// Signs are for the outside world; kernels see signless integers.
static bool areSameBytes(Type a, Type b) {
  if (isa<IntegerType>(a) && isa<IntegerType>(b))
    return a.getIntOrFloatBitWidth() == b.getIntOrFloatBitWidth();
  return a == b;
}

static bool fits(RankedTensorType type, ArrayOp array) {
  RankedTensorType expected = array.getTensorType();
  if (!type || !areSameBytes(type.getElementType(), expected.getElementType()))
    return false;
  if (!hasRows(array.getRole()))
    return type.getShape() == expected.getShape();
  return type.getRank() == expected.getRank() && type.hasStaticShape() &&
         type.getShape().drop_front() == expected.getShape().drop_front() &&
         type.getDimSize(0) <= expected.getDimSize(0);
}

namespace {
/// One argument or result of an entry: its attributes and how to name it.
struct Port {
  func::FuncOp function;
  StringRef kind;
  unsigned index;
  DictionaryAttr attributes;
  Type type;
  Location location;

  InFlightDiagnostic error() const {
    return emitError(location) << "entry @" << func::FuncOp(function).getName()
                               << ": " << kind << " #" << index << " ";
  }
};
} // namespace

/// Without an owner (init has none) the array must be the only one of that role
/// and name.
static ArrayOp findArray(StateOp state, ArrayRole role, StringRef name,
                         StringAttr owner) {
  if (!isOwned(role))
    return state.findArray(role, name, "");
  if (owner)
    return state.findArray(role, name, owner.getValue());
  ArrayOp found;
  for (auto array : state.getBody().getOps<ArrayOp>()) {
    if (array.getRole() != role || array.getArrayName() != name)
      continue;
    if (found)
      return {};
    found = array;
  }
  return found;
}

static FailureOr<ArrayOp> readPort(const Port &port, StateOp state) {
  auto get = [&](StringRef name) {
    return port.attributes ? port.attributes.getAs<StringAttr>(name)
                           : StringAttr();
  };
  StringAttr roleText = get("mg.role");
  if (!roleText)
    return port.error() << "has no mg.role";
  std::optional<ArrayRole> role = symbolizeArrayRole(roleText.getValue());
  if (!role)
    return port.error() << "has the unknown mg.role " << roleText;
  StringAttr name = get("mg.name");
  if (!name && !isControl(*role))
    return port.error() << "has no mg.name";
  StringAttr owner = get("mg.owner");
  if (!owner)
    owner = port.function->getAttrOfType<StringAttr>("mg.owner");
  StringRef key = isControl(*role) ? roleText.getValue() : name.getValue();
  ArrayOp array = findArray(state, *role, key, owner);
  if (!array)
    return port.error() << "is " << roleText.getValue() << " '" << key
                        << "', which mg.interface does not declare"
                        << (isOwned(*role) && owner
                                ? " for '" + owner.getValue().str() + "'"
                                : std::string());
  if (fits(dyn_cast<RankedTensorType>(port.type), array))
    return array;
  auto diagnostic = port.error() << "is " << roleText.getValue() << " '" << key
                                 << "' of type " << array.getType()
                                 << ", found " << port.type;
  diagnostic.attachNote(array.getLoc()) << "declared here";
  return diagnostic;
}

//===-- Entries
//------------------------------------------------------------===//

static LogicalResult readPorts(EntryInput &entry, StateOp state) {
  func::FuncOp function = entry.function;
  auto add = [&](SmallVector<ArrayOp> &arrays, const Port &port) {
    FailureOr<ArrayOp> array = readPort(port, state);
    if (failed(array))
      return failure();
    if (llvm::is_contained(arrays, *array))
      return LogicalResult(port.error()
                           << "repeats " << stringifyArrayRole(array->getRole())
                           << " '" << array->getArrayName() << "'");
    arrays.push_back(*array);
    return success();
  };
  for (BlockArgument argument : function.getArguments())
    if (failed(add(entry.arguments,
                   {function, "argument", argument.getArgNumber(),
                    function.getArgAttrDict(argument.getArgNumber()),
                    argument.getType(), argument.getLoc()})))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(add(entry.results, {function, "result", unsigned(index),
                                   function.getResultAttrDict(index), type,
                                   entry.terminator()->getLoc()})))
      return failure();
  return success();
}

static LogicalResult verifyOps(EntryInput &entry) {
  for (Operation &op : entry.body().without_terminator()) {
    if (!isLaunch(&op) && !isView(&op) && !isAllReduce(&op))
      return op.emitOpError("cannot be scheduled: expected mg.launch, "
                            "mg.reshape or shard.all_reduce in an entry");
    for (Type type : op.getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() ||
          !tensor.getElementType().isIntOrFloat())
        return op.emitOpError("has a result of type ")
               << type << ", expected a tensor of static shape";
    }
  }
  return success();
}

FailureOr<EntryInput> mg::readEntry(func::FuncOp function, StateOp state) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected an entry with one block");
  auto roleText = function->getAttrOfType<StringAttr>("mg.entry");
  std::optional<EntryRole> role =
      roleText ? symbolizeEntryRole(roleText.getValue()) : std::nullopt;
  if (!role)
    return function.emitOpError("has the unknown mg.entry ")
           << function->getAttr("mg.entry");
  auto unit = function->getAttrOfType<IntegerAttr>("mg.unit");
  EntryInput entry{function, *role,
                   function->getAttrOfType<StringAttr>("mg.owner"),
                   unit ? unit.getInt() : 0};
  if (*role == EntryRole::Init)
    entry.owner = {};
  if (failed(verifyOps(entry)) || failed(readPorts(entry, state)))
    return failure();
  return entry;
}
