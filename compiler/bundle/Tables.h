// A scheduled module as the tables of runtime/schema/bundle.fbs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_BUNDLE_TABLES_H
#define MG_COMPILER_BUNDLE_TABLES_H

#include "dialects/mgrt/Mgrt.h"
#include "dialects/mgrt/ModuleInterface.h"
#include "runtime/schema/bundle_generated.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mg {

class LocationTable;
namespace schema = ::mg::schema;

std::optional<schema::DType> toDType(Type element);

/// All tables but `targets`, whose images have no place in the file yet.
FailureOr<schema::BundleT> buildTables(ModuleOp module);

/// The entries and kernels; `owners` are the indices of trains and predicts by
/// name.
class CommandTables {
public:
  CommandTables(ModuleOp module, LocationTable &locations,
                const mgrt::ModuleInterface &interface)
      : module(module), locations(locations), interface(interface) {}
  LogicalResult build(schema::BundleT &bundle);

private:
  LogicalResult addKernels(schema::BundleT &bundle);
  LogicalResult addEntry(mgrt::EntryOp entry, schema::BundleT &bundle);
  FailureOr<int> findOwner(mgrt::EntryOp entry);
  LogicalResult fillCommand(Operation *op, schema::CommandT &command);
  LogicalResult fillLaunch(mgrt::LaunchOp op, schema::LaunchT &launch);

  ModuleOp module;
  LocationTable &locations;
  const mgrt::ModuleInterface &interface;
  llvm::StringMap<uint32_t> kernels;
};

} // namespace mlir::mg

#endif // MG_COMPILER_BUNDLE_TABLES_H
