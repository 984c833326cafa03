// Entries and the sums and check records that they exchange with the runtime.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/EntryBuilder.h"
#include "compiler/autodiff/Adjoint.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::mg {

EntryBuilder::EntryBuilder(Operation *at, Location loc, StringRef name,
                           StringRef entry, StringRef owner, int64_t unit)
    : builder(at) {
  function =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  function->setAttr("mg.entry", builder.getStringAttr(entry));
  if (!owner.empty())
    function->setAttr("mg.owner", builder.getStringAttr(owner));
  if (unit)
    function->setAttr("mg.unit", builder.getI64IntegerAttr(unit));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

static DictionaryAttr identity(Builder &builder, StringRef role,
                               StringRef name) {
  SmallVector<NamedAttribute> attrs{
      builder.getNamedAttr("mg.role", builder.getStringAttr(role))};
  if (!name.empty())
    attrs.push_back(
        builder.getNamedAttr("mg.name", builder.getStringAttr(name)));
  return builder.getDictionaryAttr(attrs);
}

Value EntryBuilder::argument(Type type, StringRef role, StringRef name,
                             Location loc) {
  Value &value = arguments[(role + "/" + name).str()];
  if (!value) {
    value = function.front().addArgument(
        type, renamed(loc, name.empty() ? role : name));
    argumentAttrs.push_back(identity(builder, role, name));
  }
  return value;
}
Value EntryBuilder::control(Control which) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return argument(type, stringifyControl(which), "", function.getLoc());
}
void EntryBuilder::result(Value value, StringRef role, StringRef name) {
  results.push_back(value);
  resultAttrs.push_back(identity(builder, role, name));
}

SmallVector<Value> EntryBuilder::cloneForward(func::FuncOp source) {
  IRMapping map;
  for (BlockArgument input : source.getArguments())
    map.map(input, argument(input.getType(), "input",
                            source
                                .getArgAttrOfType<StringAttr>(
                                    input.getArgNumber(), "mg.name")
                                .getValue(),
                            input.getLoc()));
  for (Operation &op : source.front()) {
    if (auto get = dyn_cast<GetOp>(op)) {
      std::string path = (get.getVariable().getRootReference().getValue() +
                          "." + get.getVariable().getLeafReference().getValue())
                             .str();
      map.map(get.getY(),
              argument(get.getY().getType(), "variable", path, get.getLoc()));
    } else if (auto controlOp = dyn_cast<ControlOp>(op)) {
      map.map(controlOp.getY(), control(controlOp.getWhich()));
    } else if (!isa<func::ReturnOp>(op)) {
      builder.clone(op, map);
    }
  }
  SmallVector<Value> returned;
  for (Value value : source.front().getTerminator()->getOperands())
    returned.push_back(map.lookup(value));
  return returned;
}

func::FuncOp EntryBuilder::finish() {
  // Ops that name a control are brought in only when a composite is expanded.
  SmallVector<ControlOp> controls(function.front().getOps<ControlOp>());
  for (ControlOp op : controls) {
    op.getY().replaceAllUsesWith(control(op.getWhich()));
    op.erase();
  }
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(function.front().getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
  return function;
}

//===-- Rows and sums

Value maskRows(EntryBuilder &entry, Value value) {
  return entry.rules(value)
      .op("mg.mask_rows", {Term(value), Term(entry.control(Control::rows))})
      .value;
}

Value weightedSums(EntryBuilder &entry, Value x, Value weight) {
  RuleBuilder b = entry.rules(x);
  Term one = b.like(Term(1.0), Term(x), Term(x));
  return b
      .op("mg.row_sums", {Term(x), weight ? Term(weight) : one,
                          Term(entry.control(Control::rows))})
      .value;
}

//===-- Checks

SmallVector<IndexCheck> findChecks(Block &block, int64_t unit) {
  SmallVector<IndexCheck> checks;
  for (Operation &op : block) {
    auto math = dyn_cast<MathOp>(op);
    std::optional<Bounds> bounds = math ? math.getBounds() : std::nullopt;
    if (!bounds)
      continue;
    Value positions = op.getOperand(bounds->operand);
    RankedTensorType type = tensorOf(positions);
    bool known = llvm::any_of(checks, [&](const IndexCheck &c) {
      return c.positions == positions && c.extent == bounds->extent;
    });
    if (!known && type.getRank() > 0 && type.getDimSize(0) == unit)
      checks.push_back({positions, bounds->extent, &op});
  }
  return checks;
}

Value checkRecord(EntryBuilder &entry, const IndexCheck &check) {
  RuleBuilder b = entry.rules(check.positions);
  return b
      .op("mg.first_bad_row",
          {Term(check.positions), Term(entry.control(Control::row0)),
           Term(entry.control(Control::rows))},
          {b.attribute("extent", entry.body().getI64IntegerAttr(check.extent))})
      .value;
}

Value worseRecord(EntryBuilder &entry, Value before, Value now) {
  RuleBuilder b = entry.rules(now);
  auto key = [&](Value record) {
    auto number = [&](int64_t n) { return entry.body().getI64IntegerAttr(n); };
    Term first =
        b.op("mg.slice", {Term(record)},
             {b.attribute("axis", number(0)), b.attribute("start", number(0)),
              b.attribute("limit", number(1))});
    return b.broadcastTo(
        b.op("mg.reshape", {first},
             {b.attribute("shape", b.attribute(ArrayRef<int64_t>{}))}),
        {2});
  };
  return b.select(b.gt(key(now), key(before)), Term(now), Term(before)).value;
}

} // namespace mlir::mg
