// How the expressions of op records become ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Mg.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::mg {

//===-- Building

static DenseElementsAttr splat(RankedTensorType type, double n) {
  Type element = type.getElementType();
  if (auto real = dyn_cast<FloatType>(element))
    return DenseElementsAttr::get(type, Attribute(FloatAttr::get(real, n)));
  return DenseElementsAttr::get(
      type,
      Attribute(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                                (int64_t)n, true, true))));
}

Value RuleBuilder::materialize(Term term, Type type) {
  if (term.value)
    return term.value;
  auto tensor = cast<RankedTensorType>(type);
  return ConstantOp::create(builder, loc, tensor, splat(tensor, term.number));
}

Term RuleBuilder::broadcastTo(Term x, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorOf(x.value);
  if (type.getShape() == shape)
    return x;
  // Dimensions of extent 1 are dropped first: mg.broadcast only adds
  // dimensions.
  SmallVector<int64_t> dims, kept;
  int64_t lead = (int64_t)shape.size() - type.getRank();
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    if (extent == shape[lead + i]) {
      dims.push_back(lead + i);
      kept.push_back(extent);
    }
  if (kept.size() != (size_t)type.getRank())
    x = op("mg.reshape", {x}, {attribute("shape", attribute(kept))});
  return op("mg.broadcast", {x},
            {attribute("dims", attribute(dims)),
             attribute("shape", attribute(shape))});
}

/// The shape that NumPy's rule gives, or none.
static std::optional<SmallVector<int64_t>>
broadcastShape(ArrayRef<Term> operands) {
  SmallVector<int64_t> shape;
  for (const Term &term : operands) {
    if (!term.value)
      continue;
    ArrayRef<int64_t> other = tensorOf(term.value).getShape();
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t &extent = shape[shape.size() - other.size() + i];
      if (extent != other[i] && extent != 1 && other[i] != 1)
        return std::nullopt;
      extent = extent == 1 ? other[i] : extent;
    }
  }
  return shape;
}

/// The type that a bare number takes: that of the last operand that is a tensor
/// of numbers, not truth values.
static RankedTensorType numberType(ArrayRef<Term> operands, Value like) {
  for (const Term &term : llvm::reverse(operands))
    if (term.value && !tensorOf(term.value).getElementType().isInteger(1))
      return tensorOf(term.value);
  RankedTensorType type = tensorOf(like);
  for (const Term &term : operands)
    if (term.value)
      return RankedTensorType::get(tensorOf(term.value).getShape(),
                                   type.getElementType());
  return type;
}

Term RuleBuilder::op(StringRef name, ArrayRef<Term> operands,
                     ArrayRef<NamedAttribute> attributes) {
  RegisteredOperationName info =
      *RegisteredOperationName::lookup(name, builder.getContext());
  SmallVector<Term> terms(operands);
  if (info.hasTrait<OpTrait::mg::ElementwiseBroadcast>()) {
    if (std::optional<SmallVector<int64_t>> shape = broadcastShape(terms))
      for (Term &term : terms)
        if (term.value)
          term = broadcastTo(term, *shape);
  }
  RankedTensorType type =
      operands.empty() ? RankedTensorType() : numberType(terms, like_);
  OperationState state(loc, info);
  for (const Term &term : terms)
    state.addOperands(materialize(term, type));
  state.addAttributes(attributes);
  state.addTypes(InferType::get(builder.getContext()));
  Operation *created = builder.create(state);
  SmallVector<Type> types;
  auto infer = cast<InferTypeOpInterface>(created);
  LogicalResult inferred = infer.inferReturnTypes(
      builder.getContext(), loc, created->getOperands(),
      created->getDiscardableAttrDictionary(), created->getPropertiesStorage(),
      created->getRegions(), types);
  if (failed(inferred)) { // the caller checks operands first, so this is a
                          // record that does not fit its operands
    created->erase();
    return Term(Value());
  }
  created->getResult(0).setType(types.front());
  return Term(created->getResult(0));
}

Value buildTyped(OpBuilder &builder, Operation &surface, ValueRange operands,
                 ArrayRef<NamedAttribute> extra) {
  SmallVector<Term> terms;
  for (Value operand : operands)
    terms.push_back(Term(operand));
  SmallVector<NamedAttribute> attributes(extra);
  for (NamedAttribute attribute : surface.getAttrs()) {
    if (attribute.getName() == "by")
      terms.push_back(
          Term(cast<FloatAttr>(attribute.getValue()).getValueAsDouble()));
    else
      attributes.push_back(attribute);
  }
  RuleBuilder rules(builder, surface.getLoc(),
                    operands.empty() ? Value() : operands.front());
  Value y = rules.op(surface.getName().getStringRef(), terms, attributes).value;
  return y && succeeded(verify(y.getDefiningOp())) ? y : Value();
}

//===-- Arithmetic

Term RuleBuilder::arithmetic(StringRef name, Term a, Term b) {
  return op(name, {a, b});
}

Term RuleBuilder::add(Term a, Term b) {
  if (!a.value && !b.value)
    return Term(a.number + b.number);
  if (a.isNumber(0))
    return b;
  return b.isNumber(0) ? a : arithmetic("mg.add", a, b);
}
Term RuleBuilder::sub(Term a, Term b) {
  if (!a.value && !b.value)
    return Term(a.number - b.number);
  if (b.isNumber(0))
    return a;
  return a.isNumber(0) ? neg(b) : arithmetic("mg.subtract", a, b);
}
Term RuleBuilder::mul(Term a, Term b) {
  if (!a.value && !b.value)
    return Term(a.number * b.number);
  if (a.isNumber(1))
    return b;
  if (a.isNumber(0) ||
      b.isNumber(0)) // the derivative of a step function: exactly 0
    return Term(materialize(Term(0.0), (a.value ? a : b).value.getType()));
  return b.isNumber(1) ? a : arithmetic("mg.multiply", a, b);
}
Term RuleBuilder::div(Term a, Term b) {
  if (!a.value && !b.value)
    return Term(a.number / b.number);
  return b.isNumber(1) ? a : arithmetic("mg.divide", a, b);
}
Term RuleBuilder::neg(Term a) {
  return a.value ? op("mg.negate", {a}) : Term(-a.number);
}

Term RuleBuilder::compare(StringRef comparison, Term a, Term b) {
  std::optional<Comparison> which = symbolizeComparison(comparison);
  return op("mg.compare", {a, b},
            {attribute("comparison",
                       ComparisonAttr::get(builder.getContext(), *which))});
}
Term RuleBuilder::select(Term condition, Term a, Term b) {
  return op("mg.select", {condition, a, b});
}

//===-- Attributes

Attribute RuleBuilder::shape(Term x) {
  return attribute(tensorOf(x.value).getShape());
}
Attribute RuleBuilder::inverse(DenseI64ArrayAttr permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, dim] : llvm::enumerate(permutation.asArrayRef()))
    inverse[dim] = i;
  return attribute(inverse);
}
Attribute RuleBuilder::extent(Term x, Term dim) {
  return builder.getI64IntegerAttr(
      tensorOf(x.value).getDimSize((int64_t)dim.number));
}
Attribute RuleBuilder::rows_by_rest(Term x) {
  ArrayRef<int64_t> shape = tensorOf(x.value).getShape();
  int64_t rest = 1;
  for (int64_t extent : shape.drop_front())
    rest *= extent;
  return attribute({shape.front(), rest});
}

//===-- Shapes

Term RuleBuilder::cast(Term x, Type element) {
  if (tensorOf(x.value).getElementType() == element)
    return x;
  return op("mg.cast", {x}, {attribute("to", TypeAttr::get(element))});
}
Term RuleBuilder::cast_like(Term x, StringRef element) {
  return cast(x, element == "i64" ? Type(builder.getI64Type())
                                  : Type(builder.getF64Type()));
}
Term RuleBuilder::cast_back(Term gradient, Term x) {
  Type element = tensorOf(x.value).getElementType();
  return isa<FloatType>(element) ? cast(gradient, element) : Term(Value());
}
Term RuleBuilder::like(Term number, Term shape, Term element) {
  return materialize(
      number, RankedTensorType::get(tensorOf(shape.value).getShape(),
                                    tensorOf(element.value).getElementType()));
}

Term RuleBuilder::expand(Term x, Term full, DenseI64ArrayAttr axes) {
  RankedTensorType type = tensorOf(full.value);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(axes.asArrayRef(), dim))
      dims.push_back(dim);
  return op("mg.broadcast", {x},
            {attribute("dims", attribute(dims)),
             attribute("shape", attribute(type.getShape()))});
}
static DenseI64ArrayAttr lastAxis(OpBuilder &builder, Value x) {
  return builder.getDenseI64ArrayAttr({tensorOf(x).getRank() - 1});
}
Term RuleBuilder::expand_last(Term x, Term full) {
  return expand(x, full, lastAxis(builder, full.value));
}
Term RuleBuilder::reduce_last(StringRef kind, Term x) {
  return op(("mg.reduce_" + kind).str(), {x},
            {attribute("axes", lastAxis(builder, x.value))});
}

Term RuleBuilder::sum_to(Term x, DenseI64ArrayAttr dims) {
  SmallVector<int64_t> axes, order(dims.asArrayRef()), rank;
  for (int64_t dim = 0; dim < tensorOf(x.value).getRank(); ++dim)
    if (!llvm::is_contained(dims.asArrayRef(), dim))
      axes.push_back(dim);
  Term sum = axes.empty() ? x
                          : op("mg.reduce_sum", {x},
                               {attribute("axes", attribute(axes))});
  if (llvm::is_sorted(order))
    return sum;
  llvm::sort(order);
  for (int64_t dim : dims.asArrayRef())
    rank.push_back(llvm::find(order, dim) - order.begin());
  return op("mg.transpose", {sum}, {attribute("permutation", attribute(rank))});
}

Term RuleBuilder::row_mean(Term x) {
  SmallVector<int64_t> axes;
  for (int64_t dim = 1; dim < tensorOf(x.value).getRank(); ++dim)
    axes.push_back(dim);
  return axes.empty()
             ? x
             : op("mg.reduce_mean", {x}, {attribute("axes", attribute(axes))});
}
Term RuleBuilder::count(Term x, DenseI64ArrayAttr axes) {
  double n = 1;
  for (int64_t axis : axes.asArrayRef())
    n *= tensorOf(x.value).getDimSize(axis);
  return Term(n);
}
Term RuleBuilder::iota(int64_t axis, ArrayRef<int64_t> shape) {
  return op("mg.iota", {},
            {attribute("axis", builder.getI64IntegerAttr(axis)),
             attribute("shape", attribute(shape))});
}
Term RuleBuilder::pair(Term first, Term second) {
  Term isFirst = eq(iota(0, {2}), Term(0.0));
  return select(isFirst, broadcastTo(first, {2}), broadcastTo(second, {2}));
}

//===-- Parts of derivatives

Term RuleBuilder::tie_share(Term a, Term b) {
  Term type = like(Term(0.5), a, a);
  return select(
      gt(a, b), like(Term(1.0), a, a),
      select(eq(a, b), type,
             select(ne(a, a), like(Term(1.0), a, a), like(Term(0.0), a, a))));
}
Term RuleBuilder::share_ties(Term gradient, Term x, Term y,
                             DenseI64ArrayAttr axes) {
  Term winners = select(eq(x, expand(y, x, axes)), like(Term(1.0), x, x),
                        like(Term(0.0), x, x));
  Term ties = op("mg.reduce_sum", {winners}, {attribute("axes", axes)});
  return mul(winners, expand(div(gradient, ties), x, axes));
}

/// d/dx_i Π x = Π_{j≠i} x_j: with no zero it is y / x; with one zero only its
/// own entry is not 0; with two all are 0.
Term RuleBuilder::d_y_of_product(Term gradient, Term x,
                                 DenseI64ArrayAttr axes) {
  Term zero = eq(x, Term(0.0)), one = like(Term(1.0), x, x),
       none = like(Term(0.0), x, x);
  Term safe = select(zero, one, x);
  Term product =
      expand(op("mg.reduce_prod", {safe}, {attribute("axes", axes)}), x, axes);
  Term zeros = expand(
      op("mg.reduce_sum", {select(zero, one, none)}, {attribute("axes", axes)}),
      x, axes);
  Term others = sub(zeros, select(zero, one, none));
  return mul(expand(gradient, x, axes),
             select(eq(others, Term(0.0)), div(product, safe), none));
}

Term RuleBuilder::pad_back(Term gradient, Term x, IntegerAttr axis,
                           IntegerAttr start, IntegerAttr stride) {
  int64_t size = tensorOf(x.value).getDimSize(axis.getInt()),
          taken = tensorOf(gradient.value).getDimSize(axis.getInt());
  int64_t high = size - start.getInt() - ((taken - 1) * stride.getInt() + 1);
  return op(
      "mg.pad", {gradient},
      {attribute("axis", axis), attribute("low", start),
       attribute("high", builder.getI64IntegerAttr(high)),
       attribute("interior", builder.getI64IntegerAttr(stride.getInt() - 1))});
}
Term RuleBuilder::slice_back(Term gradient, Term x, IntegerAttr axis,
                             IntegerAttr low, IntegerAttr interior) {
  int64_t size = tensorOf(x.value).getDimSize(axis.getInt()),
          stride = interior.getInt() + 1;
  return op("mg.slice", {gradient},
            {attribute("axis", axis), attribute("start", low),
             attribute("limit", builder.getI64IntegerAttr(
                                    low.getInt() + (size - 1) * stride + 1)),
             attribute("stride", builder.getI64IntegerAttr(stride))});
}
Term RuleBuilder::at_label(Term labels, Term there, Term elsewhere) {
  RankedTensorType type = tensorOf(there.value);
  Term position = iota(type.getRank() - 1, type.getShape());
  Term label = expand_last(cast_like(labels, "i64"), there);
  return select(eq(position, label), there, elsewhere);
}

Term RuleBuilder::matrix_product(Term a, Term b) {
  int64_t rank = tensorOf(a.value).getRank();
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    batch.push_back(dim);
  return op("mg.dot_general", {a, b},
            {attribute("batch_a", attribute(batch)),
             attribute("batch_b", attribute(batch)),
             attribute("contract_a", attribute({rank - 1})),
             attribute("contract_b", attribute({rank - 2}))});
}

} // namespace mlir::mg
