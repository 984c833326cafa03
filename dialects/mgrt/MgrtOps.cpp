// Verifiers of the scheduled form, and the short text of range lists.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mgrt/Mgrt.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::mgrt;

//===-- Text
//---------------------------------------------------------------===//

// (<state, 0, 128, "w">, <arena, 0, 64>)
static ParseResult parseRanges(OpAsmParser &parser, ArrayAttr &ranges) {
  SmallVector<Attribute> elements;
  auto parseOne = [&]() -> ParseResult {
    Attribute range = RangeAttr::parse(parser, {});
    if (!range)
      return failure();
    elements.push_back(range);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
    return failure();
  ranges = parser.getBuilder().getArrayAttr(elements);
  return success();
}

static void printRanges(OpAsmPrinter &printer, Operation *, ArrayAttr ranges) {
  printer << '(';
  llvm::interleaveComma(ranges.getAsRange<RangeAttr>(), printer,
                        [&](RangeAttr range) { range.print(printer); });
  printer << ')';
}

#define GET_OP_CLASSES
#include "dialects/mgrt/MgrtOps.cpp.inc"

//===-- State
//--------------------------------------------------------------===//

StateOp StateOp::find(ModuleOp module) {
  auto states = module.getOps<StateOp>();
  return states.empty() ? StateOp() : *states.begin();
}

ArrayOp StateOp::findArray(ArrayRole role, StringRef name, StringRef owner) {
  for (auto array : getBody().getOps<ArrayOp>())
    if (array.getRole() == role && array.getArrayName() == name &&
        array.getOwner().value_or("") == owner)
      return array;
  return {};
}

LogicalResult StateOp::verify() {
  if (find(cast<ModuleOp>((*this)->getParentOp())) != *this)
    return emitOpError("expected one state layout in a module, found another");
  return success();
}

static LogicalResult verifyInside(StateOp state, Operation *op,
                                  RangeAttr range) {
  int64_t bytes = static_cast<int64_t>(state.getBytes());
  if (range.getEnd() <= bytes)
    return success();
  return op->emitOpError("ends at byte ")
         << range.getEnd() << " of a state of " << bytes << " bytes";
}

static LogicalResult verifyDistinct(ArrayRef<ArrayOp> arrays) {
  llvm::DenseMap<std::tuple<int, Attribute, Attribute>, ArrayOp> seen;
  for (ArrayOp array : arrays) {
    auto [it, isNew] =
        seen.try_emplace({static_cast<int>(array.getRole()),
                          array.getArrayNameAttr(), array.getOwnerAttr()},
                         array);
    if (isNew)
      continue;
    auto diagnostic = array.emitOpError("repeats role, name and owner");
    diagnostic.attachNote(it->second.getLoc()) << "first array is here";
    return diagnostic;
  }
  return success();
}

static LogicalResult verifyApart(SmallVector<ArrayOp> arrays) {
  // One of no bytes overlaps nothing, but would stand between two that do.
  llvm::erase_if(arrays,
                 [](ArrayOp array) { return array.getByteSize() == 0; });
  llvm::sort(arrays, [](ArrayOp a, ArrayOp b) {
    return a.getRange().getOffset() < b.getRange().getOffset();
  });
  for (size_t i = 1; i < arrays.size(); ++i) {
    if (!arrays[i - 1].getRange().overlaps(arrays[i].getRange()))
      continue;
    auto diagnostic = arrays[i].emitOpError("overlaps ")
                      << stringifyArrayRole(arrays[i - 1].getRole()) << " '"
                      << arrays[i - 1].getArrayName() << "'";
    diagnostic.attachNote(arrays[i - 1].getLoc()) << "other array is here";
    return diagnostic;
  }
  return success();
}

LogicalResult StateOp::verifyRegions() {
  SmallVector<ArrayOp> arrays;
  for (Operation &op : getBody().getOps()) {
    if (auto window = dyn_cast<WindowOp>(op)) {
      for (RangeAttr range :
           {window.getSums(), window.getEpoch(), window.getEvaluation()})
        if (range.getRegion() != mgrt::Region::State)
          return window.emitOpError("expected ranges of the state");
        else if (failed(verifyInside(*this, window, range)))
          return failure();
      continue;
    }
    auto array = dyn_cast<ArrayOp>(op);
    if (!array)
      return op.emitOpError("expected only arrays and windows in a state");
    if (failed(verifyInside(*this, array, array.getRange())))
      return failure();
    arrays.push_back(array);
  }
  if (failed(verifyDistinct(arrays)))
    return failure();
  return verifyApart(arrays);
}

RankedTensorType ArrayOp::getTensorType() {
  return cast<RankedTensorType>(getType());
}

int64_t ArrayOp::getByteSize() { return tensorSizeBytes(getTensorType()); }

RangeAttr ArrayOp::getRange() {
  return RangeAttr::get(getContext(), mgrt::Region::State, getOffset(),
                        getByteSize(), getArrayNameAttr());
}

LogicalResult ArrayOp::verify() {
  RankedTensorType type = getTensorType();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return emitOpError("expected a static shape of integers or floats, found ")
           << type;
  return RangeAttr::verify([&] { return emitOpError(); }, mgrt::Region::State,
                           getOffset(), getByteSize(), {});
}

//===-- Entries
//------------------------------------------------------------===//

LogicalResult EntryOp::verify() {
  bool isUnitless =
      getRole() == EntryRole::Init || getRole() == EntryRole::Update;
  int64_t unit = static_cast<int64_t>(getUnit());
  if (isUnitless ? unit != 0 : unit <= 0)
    return emitOpError("expected ")
           << (isUnitless ? "unit 0" : "a unit of rows") << " for "
           << stringifyEntryRole(getRole()) << ", found " << unit;
  if (getRole() == EntryRole::Init ? getOwner().has_value()
                                   : !getOwner().has_value())
    return emitOpError("expected ") << (getOwner() ? "no owner" : "an owner")
                                    << " for " << stringifyEntryRole(getRole());
  return success();
}

static LogicalResult verifyRange(EntryOp entry, StateOp state, Operation *op,
                                 RangeAttr range) {
  if (range.getRegion() == mgrt::Region::State) {
    if (!state)
      return op->emitOpError("uses the state of a module that has none");
    return verifyInside(state, op, range);
  }
  bool isPacked = entry.getArenaBytes().has_value();
  if (isPacked != (range.getRegion() == mgrt::Region::Arena))
    return op->emitOpError("uses ") << range << " in an entry whose arena is "
                                    << (isPacked ? "packed" : "not packed");
  if (isPacked && range.getEnd() > static_cast<int64_t>(*entry.getArenaBytes()))
    return op->emitOpError("ends at byte ")
           << range.getEnd() << " of an arena of " << *entry.getArenaBytes()
           << " bytes";
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  StateOp state = StateOp::find(cast<ModuleOp>((*this)->getParentOp()));
  for (Operation &op : getBody().getOps()) {
    auto command = dyn_cast<CommandOpInterface>(op);
    if (!command)
      return op.emitOpError("expected only commands in an entry");
    if (isa<AllReduceOp>(op) && getRole() != EntryRole::Update)
      return op.emitOpError("stands in an entry of role ")
             << stringifyEntryRole(getRole())
             << ", but only update runs at the same point on every device";
    for (RangeAttr range : command.getReadRanges())
      if (failed(verifyRange(*this, state, command, range)))
        return failure();
    for (RangeAttr range : command.getWrittenRanges())
      if (failed(verifyRange(*this, state, command, range)))
        return failure();
  }
  return success();
}

//===-- Commands
//-----------------------------------------------------------===//

SmallVector<RangeAttr> LaunchOp::getReadRanges() {
  return llvm::to_vector(getReads().getAsRange<RangeAttr>());
}
SmallVector<RangeAttr> LaunchOp::getWrittenRanges() {
  return llvm::to_vector(getWrites().getAsRange<RangeAttr>());
}

static LogicalResult verifyBindings(LaunchOp launch, StringRef what,
                                    ArrayRef<Type> types,
                                    ArrayRef<RangeAttr> ranges) {
  if (types.size() != ranges.size())
    return launch.emitOpError("binds ")
           << ranges.size() << " " << what << "s, but @" << launch.getKernel()
           << " has " << types.size();
  for (auto [index, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !tensor.getElementType().isIntOrFloat())
      return launch.emitOpError("expected ")
             << what << " #" << index << " of @" << launch.getKernel()
             << " to be a tensor of static shape, of integers or floats, found "
             << type;
    if (ranges[index].getBytes() != tensorSizeBytes(tensor))
      return launch.emitOpError("binds ")
             << ranges[index].getBytes() << " bytes to " << what << " #"
             << index << " of @" << launch.getKernel() << ", which takes "
             << tensorSizeBytes(tensor) << " (" << tensor << ")";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  if (!kernel)
    return emitOpError("found no kernel @") << getKernel();
  if (failed(verifyBindings(*this, "operand", kernel.getArgumentTypes(),
                            getReadRanges())))
    return failure();
  return verifyBindings(*this, "result", kernel.getResultTypes(),
                        getWrittenRanges());
}

SmallVector<RangeAttr> AllReduceOp::getReadRanges() { return {getRange()}; }
SmallVector<RangeAttr> AllReduceOp::getWrittenRanges() { return {getRange()}; }

LogicalResult AllReduceOp::verify() {
  if (!getDtype().isIntOrFloat())
    return emitOpError("expected integers or floats, found ") << getDtype();
  if (getRange().getBytes() % elementSizeBytes(getDtype()) != 0)
    return emitOpError("expected a multiple of ")
           << elementSizeBytes(getDtype()) << " bytes for " << getDtype()
           << ", found " << getRange().getBytes();
  return success();
}

SmallVector<RangeAttr> CopyOp::getReadRanges() { return {getSource()}; }
SmallVector<RangeAttr> CopyOp::getWrittenRanges() { return {getTarget()}; }

LogicalResult CopyOp::verify() {
  if (getSource().getBytes() != getTarget().getBytes())
    return emitOpError("copies ") << getSource().getBytes() << " bytes to "
                                  << getTarget().getBytes() << " bytes";
  if (getSource().overlaps(getTarget()))
    return emitOpError("copies a range onto itself");
  return success();
}

SmallVector<RangeAttr> FillOp::getReadRanges() { return {}; }
SmallVector<RangeAttr> FillOp::getWrittenRanges() { return {getTarget()}; }
