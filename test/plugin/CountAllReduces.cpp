// A pass plug-in: remarks how many all-reduces each function has. It needs
// nothing of this repository but the text of the IR.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct CountAllReduces : PassWrapper<CountAllReduces, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountAllReduces)
  StringRef getArgument() const final { return "count-all-reduces"; }
  StringRef getDescription() const final {
    return "Remark the number of all-reduces of each function";
  }

  void runOnOperation() final {
    getOperation().walk([](FunctionOpInterface function) {
      int64_t count = 0;
      function.walk([&](shard::AllReduceOp) { ++count; });
      if (count)
        function.emitRemark() << count << " all-reduces";
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "count-all-reduces", "1",
          [] { PassRegistration<CountAllReduces>(); }};
}
