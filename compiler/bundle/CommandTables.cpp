// Entries, commands and kernels of a bundle.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bundle/Locations.h"
#include "compiler/bundle/Tables.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mgrt;
namespace schema = ::mg::schema;

// The schema's enums have the order of the dialect's, so numbers can be taken
// over.
static_assert(int(EntryRole::Predict) == int(schema::Role::Predict) &&
              int(EntryRole::Update) == int(schema::Role::Update));
static_assert(int(mgrt::Reduction::Prod) == int(schema::Reduction::Prod) &&
              int(mgrt::Reduction::Max) == int(schema::Reduction::Max));
static_assert(int(mgrt::Region::State) == int(schema::Region::State) &&
              int(mgrt::Region::Arena) == int(schema::Region::Arena));

static schema::Range toRange(RangeAttr range) {
  return {static_cast<schema::Region>(range.getRegion()),
          static_cast<uint64_t>(range.getOffset()),
          static_cast<uint64_t>(range.getBytes())};
}

static std::unique_ptr<schema::Range> toRangePointer(RangeAttr range) {
  return std::make_unique<schema::Range>(toRange(range));
}

LogicalResult mlir::mg::CommandTables::build(schema::BundleT &bundle) {
  if (failed(addKernels(bundle)))
    return failure();
  for (auto entry : module.getOps<EntryOp>())
    if (failed(addEntry(entry, bundle)))
      return failure();
  return success();
}

LogicalResult mlir::mg::CommandTables::addKernels(schema::BundleT &bundle) {
  auto count = [](Operation *op, StringRef name) -> uint64_t {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function->hasAttr("mg.kernel"))
      continue;
    auto kernel = std::make_unique<schema::KernelT>();
    kernel->name = function.getName().str();
    kernel->location = locations.index(function.getLoc());
    kernel->flops = count(function, "mg.flops");
    kernel->bytes = count(function, "mg.bytes");
    kernels[function.getName()] = bundle.kernels.size();
    bundle.kernels.push_back(std::move(kernel));
  }
  return success();
}

FailureOr<int> mlir::mg::CommandTables::findOwner(EntryOp entry) {
  if (entry.getRole() == EntryRole::Init)
    return -1;
  auto indexIn = [&](const auto &owners) -> FailureOr<int> {
    for (auto [index, owner] : llvm::enumerate(owners))
      if (owner.name == *entry.getOwner())
        return int(index);
    return entry.emitOpError("belongs to '")
           << *entry.getOwner() << "', which mg.interface does not declare";
  };
  if (entry.getRole() == EntryRole::Predict)
    return indexIn(interface.predicts);
  return indexIn(interface.trains);
}

LogicalResult mlir::mg::CommandTables::addEntry(EntryOp entry,
                                                schema::BundleT &bundle) {
  if (!entry.getArenaBytes())
    return entry.emitOpError("has temporaries without a place: run "
                             "mg-pack-arena");
  FailureOr<int> owner = findOwner(entry);
  if (failed(owner))
    return failure();
  auto table = std::make_unique<schema::EntryT>();
  table->role = static_cast<schema::Role>(entry.getRole());
  table->owner = *owner;
  table->unit = entry.getUnit();
  for (Operation &op : entry.getBody().getOps()) {
    auto command = std::make_unique<schema::CommandT>();
    if (failed(fillCommand(&op, *command)))
      return failure();
    table->commands.push_back(std::move(command));
  }
  bundle.arena_bytes = std::max(bundle.arena_bytes, *entry.getArenaBytes());
  bundle.entries.push_back(std::move(table));
  return success();
}

LogicalResult mlir::mg::CommandTables::fillCommand(Operation *op,
                                                   schema::CommandT &command) {
  command.location = locations.index(op->getLoc());
  if (auto label = op->getAttrOfType<StringAttr>("label"))
    command.name = label.str();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LaunchOp launch) {
        schema::LaunchT table;
        LogicalResult result = fillLaunch(launch, table);
        command.op.Set(std::move(table));
        return result;
      })
      .Case([&](AllReduceOp reduce) -> LogicalResult {
        std::optional<schema::DType> dtype = toDType(reduce.getDtype());
        if (!dtype)
          return op->emitOpError("cannot store dtype ") << reduce.getDtype();
        schema::CollectiveT table;
        table.reduction = static_cast<schema::Reduction>(reduce.getReduction());
        table.dtype = *dtype;
        table.range = toRangePointer(reduce.getRange());
        command.op.Set(std::move(table));
        return success();
      })
      .Case([&](CopyOp copy) {
        schema::CopyT table;
        table.from = toRangePointer(copy.getSource());
        table.to = toRangePointer(copy.getTarget());
        command.op.Set(std::move(table));
        return success();
      })
      .Case([&](FillOp fill) {
        schema::FillT table;
        table.to = toRangePointer(fill.getTarget());
        table.byte = static_cast<uint8_t>(fill.getByte());
        command.op.Set(std::move(table));
        return success();
      })
      .Default([](Operation *unknown) {
        return unknown->emitOpError("has no form in a bundle");
      });
}

LogicalResult mlir::mg::CommandTables::fillLaunch(LaunchOp op,
                                                  schema::LaunchT &launch) {
  auto kernel = kernels.find(op.getKernel());
  if (kernel == kernels.end())
    return op.emitOpError("launches @")
           << op.getKernel() << ", which is not marked mg.kernel";
  launch.kernel = kernel->second;
  for (RangeAttr range : op.getReadRanges())
    launch.bindings.push_back(toRange(range));
  for (RangeAttr range : op.getWrittenRanges())
    launch.bindings.push_back(toRange(range));
  return success();
}
