// An optimizer's body is instantiated once a variable, on its shape.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/OptimizerUpdate.h"
#include "compiler/autodiff/Adjoint.h"

#include <cmath>

namespace mlir::mg {

FailureOr<OptimizerBinding> bindOptimizer(ModuleOp module, MinimizeOp minimize,
                                          bool allDouble) {
  OptimizerBinding binding;
  binding.minimize = minimize;
  binding.optimizer = dyn_cast_or_null<OptimizerOp>(
      SymbolTable::lookupSymbolIn(module, minimize.getOptimizerAttr()));
  if (!binding.optimizer) {
    InFlightDiagnostic error =
        minimize.emitOpError()
        << "names the optimizer '@" << minimize.getOptimizer()
        << "', which neither the model nor the library has";
    for (OptimizerOp known : module.getOps<OptimizerOp>())
      error.attachNote(known.getLoc())
          << "there is '@" << known.getSymName() << "'";
    return error << "; see mgc --print-library";
  }
  Builder builder(module.getContext());
  binding.scalarType =
      allDouble ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  DictionaryAttr given =
      minimize.getScalars().value_or(builder.getDictionaryAttr({}));
  for (auto [role, initial] : llvm::zip(binding.optimizer.getRoles(),
                                        binding.optimizer.getDefaults())) {
    auto [kind, name] = cast<StringAttr>(role).getValue().split(' ');
    double value = cast<FloatAttr>(initial).getValueAsDouble();
    if (kind == "slot")
      binding.slots.push_back({name, value});
    if (kind != "scalar")
      continue;
    if (Attribute set = given.get(name)) {
      if (auto real = dyn_cast<FloatAttr>(set))
        value = real.getValueAsDouble();
      else if (auto whole = dyn_cast<IntegerAttr>(set))
        value = whole.getType().isInteger(1) ? whole.getValue().getZExtValue()
                                             : (double)whole.getInt();
      else
        return minimize.emitOpError()
               << "sets '" << name << "' to " << set << ", expected a number";
    }
    if (!std::isfinite(value))
      return minimize.emitOpError() << "sets '" << name << "' to " << value
                                    << ", expected a finite number";
    binding.scalars.push_back({name, value});
  }
  for (NamedAttribute attribute : given)
    if (llvm::none_of(binding.scalars, [&](const OptimizerBinding::Scalar &s) {
          return s.name == attribute.getName();
        })) {
      InFlightDiagnostic error = minimize.emitOpError()
                                 << "sets '" << attribute.getName().getValue()
                                 << "', which '@" << minimize.getOptimizer()
                                 << "' does not have; it has";
      for (auto [i, scalar] : llvm::enumerate(binding.scalars))
        error << (i ? ", " : " ") << scalar.name;
      if (binding.scalars.empty())
        error << " none";
      return failure();
    }
  return binding;
}

namespace {

class Update {
public:
  Update(Operation *at, StringRef owner, OptimizerBinding binding,
         const UpdateInputs &inputs)
      : entry(at, binding.minimize.getLoc(), (owner + ".update").str(),
              "update", owner, 0),
        binding(binding), inputs(inputs) {}

  LogicalResult build() {
    ok = allRight();
    weight = lossWeight();
    step = entry.control(Control::step);
    RuleBuilder b = entry.rules(step);
    next = b.add(Term(step), Term(1.0)).value;
    for (auto [variable, loc] : llvm::zip(inputs.variables, inputs.locations))
      if (failed(updateVariable(variable.first, variable.second, loc)))
        return failure();
    entry.result(keep(next, step), "step", "");
    for (const std::string &metric : inputs.metrics)
      sumEpoch(metric);
    entry.finish();
    return success();
  }

private:
  Value window(StringRef metric) {
    return entry.argument(RankedTensorType::get({2}, entry.body().getF64Type()),
                          "metric_window", metric, entry.getLoc());
  }
  Value scalarAt(Value pair, int64_t position) {
    RuleBuilder b = entry.rules(pair);
    auto number = [&](int64_t n) { return entry.body().getI64IntegerAttr(n); };
    Term part = b.op("mg.slice", {Term(pair)},
                     {b.attribute("axis", number(0)),
                      b.attribute("start", number(position)),
                      b.attribute("limit", number(position + 1))});
    return b
        .op("mg.reshape", {part},
            {b.attribute("shape", b.attribute(ArrayRef<int64_t>{}))})
        .value;
  }
  /// i1: no check failed on any device.
  Value allRight() {
    Value right;
    for (const std::string &check : inputs.checks) {
      Value record =
          entry.argument(RankedTensorType::get({2}, entry.body().getI64Type()),
                         "check_window", check, entry.getLoc());
      RuleBuilder b = entry.rules(record);
      Term fine = b.eq(Term(scalarAt(record, 0)), Term(0.0));
      right = right ? b.bitAnd(Term(right), fine).value : fine.value;
    }
    return right;
  }
  /// Σ w, or 1 where it is 0: then the gradient sums are 0 too.
  Value lossWeight() {
    Value total = scalarAt(window("loss"), 1);
    RuleBuilder b = entry.rules(total);
    return b
        .select(b.eq(Term(total), Term(0.0)),
                b.like(Term(1.0), Term(total), Term(total)), Term(total))
        .value;
  }
  Value keep(Value now, Value before) {
    if (!ok)
      return now;
    RuleBuilder b = entry.rules(now);
    return b.select(Term(ok), Term(now), Term(before)).value;
  }

  LogicalResult updateVariable(StringRef name, RankedTensorType type,
                               Location loc) {
    Type element = type.getElementType();
    Value before = entry.argument(type, "variable", name, loc);
    Value sum =
        entry.argument(type, "gradient", name, renamed(loc, "d_" + name));
    RuleBuilder b = entry.rules(before);
    Term gradient = b.div(Term(sum), b.cast(Term(weight), element));
    SmallVector<Value> old{before};
    llvm::DenseMap<Value, Value> values;
    for (auto [role, argument] :
         llvm::zip(binding.optimizer.getRoles(),
                   binding.optimizer.getBody().getArguments())) {
      auto [kind, word] = cast<StringAttr>(role).getValue().split(' ');
      if (kind == "p")
        values[argument] = before;
      else if (kind == "g")
        values[argument] = gradient.value;
      else if (kind == "step")
        values[argument] = b.cast(Term(next), element).value;
      else if (kind == "slot")
        old.push_back(values[argument] = entry.argument(
                          type, "slot", (word + "/" + name).str(), loc));
      else
        values[argument] =
            b.cast(Term(entry.argument(
                       RankedTensorType::get({}, binding.scalarType), "scalar",
                       word, argument.getLoc())),
                   element)
                .value;
    }
    FailureOr<SmallVector<Value>> results = instantiate(values, type, name);
    if (failed(results))
      return failure();
    entry.result(keep(results->front(), before), "variable", name);
    for (auto [i, slot] : llvm::enumerate(binding.slots))
      entry.result(keep((*results)[i + 1], old[i + 1]), "slot",
                   (slot.name + "/" + name).str());
    return success();
  }

  /// The optimizer's body on one variable; its float constants take the
  /// variable's element type.
  FailureOr<SmallVector<Value>>
  instantiate(llvm::DenseMap<Value, Value> &values, RankedTensorType type,
              StringRef name) {
    Block &body = binding.optimizer.getBody().front();
    for (Operation &op : body.without_terminator()) {
      if (!isa<MathOp>(op))
        return op.emitOpError("is not allowed in an optimizer: only "
                              "element-wise ops and reductions are");
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values.lookup(operand));
      Value y = buildTyped(entry.body(), op, operands);
      if (!y)
        return binding.minimize.emitOpError()
               << "cannot apply '@" << binding.optimizer.getSymName()
               << "' to variable '" << name << "' of type " << type;
      if (isa<ConstantOp>(op) && isa<FloatType>(tensorOf(y).getElementType()))
        y = entry.rules(y).cast(Term(y), type.getElementType()).value;
      values[op.getResult(0)] = y;
    }
    SmallVector<Value> results;
    for (Value value : cast<ReturnOp>(body.getTerminator()).getValues()) {
      results.push_back(values.lookup(value));
      if (results.back().getType() != type)
        return binding.optimizer.emitOpError()
               << "gives " << results.back().getType() << " for variable '"
               << name << "' of type " << type;
    }
    return results;
  }

  void sumEpoch(StringRef metric) {
    Value now = window(metric);
    Value before =
        entry.argument(now.getType(), "metric_epoch", metric, entry.getLoc());
    RuleBuilder b = entry.rules(now);
    entry.result(keep(b.add(Term(before), Term(now)).value, before),
                 "metric_epoch", metric);
    entry.result(now, "metric_window", metric);
  }

  EntryBuilder entry;
  OptimizerBinding binding;
  const UpdateInputs &inputs;
  Value ok, weight, step, next;
};

} // namespace

LogicalResult buildUpdate(Operation *at, StringRef owner,
                          const OptimizerBinding &binding,
                          const UpdateInputs &inputs) {
  return Update(at, owner, binding, inputs).build();
}

} // namespace mlir::mg
