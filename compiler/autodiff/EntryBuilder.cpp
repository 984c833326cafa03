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
  for (ControlOp op : llvm::make_early_inc_range(
           llvm::to_vector(function.front().getOps<ControlOp>()))) {
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

/// i1 of x's shape: whether the row is valid.
static Term validRows(EntryBuilder &entry, Value x) {
  RankedTensorType type = tensorOf(x);
  RuleBuilder b = entry.rules(x);
  Term rows(entry.control(Control::rows));
  int64_t unit = type.getDimSize(0);
  Term valid = b.lt(b.iota(0, {unit}), rows);
  if (type.getRank() == 1)
    return valid;
  return b.op("mg.broadcast", {valid},
              {b.attribute("dims", b.attribute({0})),
               b.attribute("shape", b.attribute(type.getShape()))});
}

Value maskRows(EntryBuilder &entry, Value value) {
  RuleBuilder b = entry.rules(value);
  return b
      .select(validRows(entry, value), Term(value),
              b.like(Term(0.0), Term(value), Term(value)))
      .value;
}

static Value sumAll(EntryBuilder &entry, Value x) {
  RuleBuilder b = entry.rules(x);
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < tensorOf(x).getRank(); ++dim)
    axes.push_back(dim);
  return b
      .op("mg.reduce_sum", {Term(x)}, {b.attribute("axes", b.attribute(axes))})
      .value;
}

Value weightedSums(EntryBuilder &entry, Value x, Value weight) {
  RuleBuilder b = entry.rules(x);
  Type f64 = entry.body().getF64Type();
  Term product = weight ? b.mul(Term(weight), Term(x)) : Term(x);
  Value sum = sumAll(entry, maskRows(entry, b.cast(product, f64).value));
  Value total;
  if (weight) {
    total = sumAll(entry, maskRows(entry, b.cast(Term(weight), f64).value));
  } else {
    RankedTensorType type = tensorOf(x);
    double entries = (double)(type.getNumElements() / type.getDimSize(0));
    total =
        b.mul(b.cast(Term(entry.control(Control::rows)), f64), Term(entries))
            .value;
  }
  return b.pair(Term(sum), Term(total)).value;
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
  RuleBuilder b = entry.rules(entry.control(Control::rows));
  Term value = b.cast_like(Term(check.positions), "i64");
  ArrayRef<int64_t> shape = tensorOf(check.positions).getShape();
  Term outside =
      b.bitOr(b.lt(value, Term(0.0)), b.ge(value, Term((double)check.extent)));
  Term bad = b.bitAnd(outside, validRows(entry, check.positions));
  Term row = b.add(b.iota(0, shape), Term(entry.control(Control::row0)));
  Term zero = b.like(Term(0.0), value, value);
  Term keys = b.select(
      bad, b.sub(b.like(Term(4611686018427387904.0), value, value), row), zero);
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  Term key =
      b.op("mg.reduce_max", {keys}, {b.attribute("axes", b.attribute(axes))});
  Term worst = b.bitAnd(bad, b.eq(keys, b.broadcastTo(key, shape)));
  Term found =
      b.op("mg.reduce_max",
           {b.select(worst, value,
                     b.like(Term(-9223372036854775808.0), value, value))},
           {b.attribute("axes", b.attribute(axes))});
  Term shown =
      b.select(b.gt(key, Term(0.0)), found, b.like(Term(0.0), key, key));
  return b.pair(key, shown).value;
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
