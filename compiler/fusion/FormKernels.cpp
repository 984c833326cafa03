// --mg-form-kernels: entries become launches, in an order in which they can
// run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/OutlineKernel.h"
#include "compiler/fusion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::mg {

void registerExpandCompositesPass();

namespace {

struct FormKernels : PassWrapper<FormKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormKernels)
  StringRef getArgument() const final { return "mg-form-kernels"; }
  StringRef getDescription() const final {
    return "Group ops into kernels and launch them";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<linalg::LinalgDialect, arith::ArithDialect,
                    math::MathDialect, tensor::TensorDialect>();
  }

  void runOnOperation() final {
    SmallVector<func::FuncOp> entries;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("mg.entry"))
        entries.push_back(function);
    for (func::FuncOp entry : entries)
      rewrite(entry);
  }

private:
  void rewrite(func::FuncOp entry) {
    Block &block = entry.front();
    OpBuilder builder(&getContext());
    SmallVector<Group> groups = groupOps(block);
    llvm::DenseMap<Value, Value> values;
    // New ops are put before the terminator in run order; the old ones are
    // erased at the end.
    builder.setInsertionPoint(block.getTerminator());
    for (BlockArgument argument : block.getArguments())
      values[argument] = argument;
    llvm::SmallPtrSet<Operation *, 32> old;
    for (Operation &op : block.without_terminator())
      old.insert(&op);
    for (const Group &group : groups)
      emit(group, builder, values);
    for (OpOperand &operand : block.getTerminator()->getOpOperands())
      operand.set(values.lookup(operand.get()));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (old.contains(&op)) {
        op.dropAllUses();
        op.erase();
      }
    makeSignless(entry);
  }

  void emit(const Group &group, OpBuilder &builder,
            llvm::DenseMap<Value, Value> &values) {
    Operation *first = group.ops.front();
    if (!isComputed(first)) {
      if (first->hasTrait<OpTrait::IsTerminator>())
        return;
      Operation *copy = builder.clone(*first);
      for (OpOperand &operand : copy->getOpOperands())
        operand.set(values.lookup(operand.get()));
      for (OpResult result : copy->getResults()) {
        result.setType(signless(result.getType()));
        values[first->getResult(result.getResultNumber())] = result;
      }
      return;
    }
    OutlinedKernel kernel =
        outlineKernel(group, getOperation(),
                      [&](Value value) { return usedOutside(value, group); });
    SmallVector<Value> operands;
    for (Value operand : kernel.operands)
      operands.push_back(values.lookup(operand));
    StringRef name = intern(kernel.function);
    SmallVector<Attribute> pairs;
    for (auto [operand, result] : kernel.inplace)
      pairs.push_back(builder.getDenseI64ArrayAttr({operand, result}));
    SmallVector<Type> types;
    for (Value result : kernel.results)
      types.push_back(signless(result.getType()));
    auto launch = LaunchOp::create(
        builder, group.ops.back()->getLoc(), types, name, operands,
        pairs.empty() ? ArrayAttr() : builder.getArrayAttr(pairs));
    for (auto [old, result] : llvm::zip(kernel.results, launch.getOutputs()))
      values[old] = result;
  }

  /// Used by an op that is not in the group, directly or through free ops,
  /// which every user copies.
  static bool usedOutside(Value value, const Group &group) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (llvm::is_contained(group.ops, user))
        return false;
      return !isFree(user) || usedOutside(user->getResult(0), group);
    });
  }

  /// The name of a kernel with this text: an equal one made before, or a new
  /// one.
  StringRef intern(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    function.setName("kernel");
    function->print(stream, OpPrintingFlags().useLocalScope());
    auto [it, isNew] = kernels.try_emplace(text, "");
    if (!isNew) {
      function.erase();
      return it->second;
    }
    auto label = dyn_cast<NameLoc>(function.getLoc());
    it->second = ("k" + Twine(kernels.size() - 1) +
                  (label ? "_" + label.getName().getValue() : Twine()))
                     .str();
    function.setName(it->second);
    return it->second;
  }

  void makeSignless(func::FuncOp entry) {
    for (BlockArgument argument : entry.getArguments())
      argument.setType(signless(argument.getType()));
    entry.setType(
        FunctionType::get(&getContext(), entry.front().getArgumentTypes(),
                          entry.front().getTerminator()->getOperandTypes()));
  }

  llvm::StringMap<std::string> kernels;
};

} // namespace

std::unique_ptr<Pass> createFormKernelsPass() {
  return std::make_unique<FormKernels>();
}
void registerFusionPasses() {
  registerExpandCompositesPass();
  PassRegistration<FormKernels>();
}

} // namespace mlir::mg
