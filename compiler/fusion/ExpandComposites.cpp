// --mg-expand-composites. What depends on training was expanded by the gradient
// stage already.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"
#include "dialects/mg/Mg.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mg {
namespace {

struct ExpandComposites
    : PassWrapper<ExpandComposites, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandComposites)
  StringRef getArgument() const final { return "mg-expand-composites"; }
  StringRef getDescription() const final {
    return "Replace each composite op by the primitives that define it";
  }

  void runOnOperation() final {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(expand(function)))
        return signalPassFailure();
  }

private:
  static LogicalResult expand(func::FuncOp function) {
    SmallVector<MathOp> work;
    auto collect = [&] {
      work.clear();
      function.walk([&](MathOp op) {
        if (op.isComposite())
          work.push_back(op);
      });
      return !work.empty();
    };
    while (collect())
      for (MathOp op : work) {
        OpBuilder builder(op);
        RuleBuilder rules(builder, op->getLoc(),
                          op->getNumOperands() ? op->getOperand(0)
                                               : op->getResult(0));
        SmallVector<Value> results;
        if (failed(op.buildDecomposition(rules, /*training=*/false, results)))
          return op->emitOpError("cannot be expanded");
        op->replaceAllUsesWith(results);
        op->erase();
      }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createExpandCompositesPass() {
  return std::make_unique<ExpandComposites>();
}
void registerExpandCompositesPass() { PassRegistration<ExpandComposites>(); }

} // namespace mlir::mg
