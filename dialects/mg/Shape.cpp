// Shape ops: shapes and maps that follow from attributes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::mg {

/// A nest of one parallel letter a result dimension; operand maps are given.
static IndexSpec parallelNest(Operation *op, ArrayRef<AffineMap> operands) {
  IndexSpec spec;
  for (int64_t extent : tensorOf(op->getResult(0)).getShape()) {
    spec.letters.push_back('.');
    spec.kinds.push_back(LetterKind::Parallel);
    spec.extents.push_back(extent);
  }
  spec.operands.assign(operands.begin(), operands.end());
  spec.results.push_back(
      AffineMap::getMultiDimIdentityMap(spec.letters.size(), op->getContext()));
  return spec;
}
static AffineMap selectDims(Operation *op, ArrayRef<int64_t> dims) {
  SmallVector<unsigned> targets(dims.begin(), dims.end());
  return AffineMap::getMultiDimMapWithTargets(
      tensorOf(op->getResult(0)).getRank(), targets, op->getContext());
}
static std::string text(ArrayRef<int64_t> list) {
  return "[" +
         llvm::join(
             llvm::map_range(list, [](int64_t n) { return std::to_string(n); }),
             ", ") +
         "]";
}
template <typename... Args>
static LogicalResult fail(std::optional<Location> loc, Args &&...args) {
  return emitOptionalError(loc, std::forward<Args>(args)...);
}
static LogicalResult checkAxis(std::optional<Location> loc, StringRef name,
                               int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return fail(loc, "'", name, "' op axis ", axis, " is outside 0 … ", rank - 1,
              " (the operand has rank ", rank, ")");
}

//===-- constant, iota

LogicalResult inferShape(ConstantOp::Adaptor op, std::optional<Location>,
                         SmallVectorImpl<int64_t> &shape) {
  llvm::append_range(shape,
                     cast<ShapedType>(op.getValue().getType()).getShape());
  return success();
}
IndexSpec customIndex(ConstantOp op) { return parallelNest(op, {}); }
void customBody(ConstantOp op, ScalarBuilder &b, ValueRange,
                SmallVectorImpl<Value> &results) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  OpBuilder &builder = b.getBuilder();
  if (elements.isSplat()) {
    auto value = cast<TypedAttr>(elements.getSplatValue<Attribute>());
    if (auto integer = dyn_cast<IntegerAttr>(value))
      value = builder.getIntegerAttr(b.getResultType(), integer.getValue());
    results.push_back(arith::ConstantOp::create(builder, b.getLoc(), value));
    return;
  }
  // A table of few elements: the one whose position this is.
  Value position = arith::ConstantOp::create(builder, b.getLoc(),
                                             builder.getI64IntegerAttr(0));
  ArrayRef<int64_t> shape = tensorOf(op.getY()).getShape();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    Value size = arith::ConstantOp::create(builder, b.getLoc(),
                                           builder.getI64IntegerAttr(extent));
    position = arith::MulIOp::create(builder, b.getLoc(), position, size);
    position =
        arith::AddIOp::create(builder, b.getLoc(), position, b.positionOf(dim));
  }
  Value chosen;
  for (auto [i, attr] : llvm::enumerate(elements.getValues<Attribute>())) {
    auto value = cast<TypedAttr>(attr);
    if (auto integer = dyn_cast<IntegerAttr>(value))
      value = builder.getIntegerAttr(b.getResultType(), integer.getValue());
    Value element = arith::ConstantOp::create(builder, b.getLoc(), value);
    chosen =
        chosen
            ? b.select(b.eq(position, Scalar((double)i)), element, chosen).value
            : element;
  }
  results.push_back(chosen);
}
LogicalResult ConstantOp::verify() {
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements)
    return emitOpError() << "needs a dense constant, found " << getValue();
  if (!elements.isSplat() && elements.getNumElements() > 256)
    return emitOpError() << "has " << elements.getNumElements()
                         << " different elements, at most 256 are supported: "
                            "make it an input or a variable";
  return success();
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult inferShape(IotaOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  llvm::append_range(shape, op.getShape());
  return checkAxis(loc, "mg.iota", op.getAxis(), op.getShape().size());
}
IndexSpec customIndex(IotaOp op) { return parallelNest(op, {}); }
void customBody(IotaOp op, ScalarBuilder &b, ValueRange,
                SmallVectorImpl<Value> &results) {
  results.push_back(b.positionOf(op.getAxis()));
}

//===-- broadcast, reshape, transpose

LogicalResult inferShape(BroadcastOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  ArrayRef<int64_t> dims = op.getDims();
  llvm::append_range(shape, op.getShape());
  if ((int64_t)dims.size() != type.getRank())
    return fail(loc, "'mg.broadcast' op has ", dims.size(), " dims, expected ",
                type.getRank(), ", one a dimension of the operand");
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (failed(checkAxis(loc, "mg.broadcast", dim, shape.size())))
      return failure();
    if (shape[dim] != type.getDimSize(i))
      return fail(loc, "'mg.broadcast' op dimension ", i, " is ",
                  type.getDimSize(i), " but becomes dimension ", dim,
                  " of extent ", shape[dim]);
    if (llvm::is_contained(dims.drop_front(i + 1), dim))
      return fail(loc, "'mg.broadcast' op names dimension ", dim, " twice");
  }
  return success();
}
IndexSpec customIndex(BroadcastOp op) {
  return parallelNest(op, {selectDims(op, op.getDims())});
}
OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType() && llvm::is_sorted(getDims()))
    return getX();
  DenseElementsAttr elements;
  auto type = dyn_cast<RankedTensorType>(getY().getType());
  if (type && matchPattern(getX(), m_Constant(&elements)) && elements.isSplat())
    return DenseElementsAttr::get(type, elements.getSplatValue<Attribute>());
  return {};
}

LogicalResult inferShape(ReshapeOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  llvm::append_range(shape, op.getShape());
  if (!shape.empty() && shape.front() == 0 && type.getRank() > 0)
    shape.front() = type.getDimSize(0);
  int64_t known = 1, open = llvm::count(shape, -1);
  for (int64_t extent : shape)
    known *= extent < 0 ? 1 : extent;
  if (open == 1 && known > 0 && type.getNumElements() % known == 0)
    *llvm::find(shape, -1) = type.getNumElements() / known;
  else if (open != 0 || known != type.getNumElements())
    return fail(loc, "'mg.reshape' op cannot make ", text(op.getShape()),
                " from ", type, ": it has ", type.getNumElements(),
                " elements");
  return success();
}
/// A reshape is a view, so only leading dimensions that stay are letters; the
/// rest belongs together.
IndexSpec customIndex(ReshapeOp op) {
  ArrayRef<int64_t> in = tensorOf(op.getX()).getShape(),
                    out = tensorOf(op.getY()).getShape();
  MLIRContext *context = op.getContext();
  size_t same = 0;
  while (same < in.size() && same < out.size() && in[same] == out[same])
    ++same;
  IndexSpec spec;
  auto add = [&](int64_t extent, LetterKind kind) {
    spec.letters.push_back('.');
    spec.kinds.push_back(kind);
    spec.extents.push_back(extent);
  };
  for (size_t i = 0; i < same; ++i)
    add(in[i], LetterKind::Parallel);
  for (int64_t extent : out.drop_front(same))
    add(extent, LetterKind::Opaque);
  for (int64_t extent : in.drop_front(same))
    add(extent, LetterKind::Opaque);
  SmallVector<unsigned> from, to;
  for (unsigned i = 0; i < spec.letters.size(); ++i) {
    if (i < out.size())
      to.push_back(i);
    if (i < same || i >= out.size())
      from.push_back(i);
  }
  spec.operands.push_back(
      AffineMap::getMultiDimMapWithTargets(spec.letters.size(), from, context));
  spec.results.push_back(
      AffineMap::getMultiDimMapWithTargets(spec.letters.size(), to, context));
  return spec;
}
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = dyn_cast<RankedTensorType>(getY().getType());
  if (!type)
    return {};
  if (getX().getType() == type)
    return getX();
  if (auto before = getX().getDefiningOp<ReshapeOp>()) {
    setOperand(before.getX());
    return getY();
  }
  DenseElementsAttr elements;
  if (matchPattern(getX(), m_Constant(&elements)) && elements.isSplat())
    return elements.reshape(type);
  return {};
}

LogicalResult inferShape(FlattenOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  if (type.getRank() == 0)
    return fail(loc, "'mg.flatten' op needs a batch dimension, found rank 0");
  shape.push_back(type.getDimSize(0));
  shape.push_back(
      type.getDimSize(0) ? type.getNumElements() / type.getDimSize(0) : 0);
  return success();
}
IndexSpec customIndex(FlattenOp op) {
  IndexSpec spec;
  ArrayRef<int64_t> in = tensorOf(op.getX()).getShape();
  spec.letters.assign(in.size() + 1, '.');
  spec.kinds.assign(in.size() + 1, LetterKind::Opaque);
  spec.kinds.front() = LetterKind::Parallel;
  spec.extents = {in.front(), tensorOf(op.getY()).getDimSize(1)};
  spec.extents.append(in.begin() + 1, in.end());
  SmallVector<unsigned> from{0};
  for (unsigned i = 2; i < spec.letters.size(); ++i)
    from.push_back(i);
  spec.operands.push_back(AffineMap::getMultiDimMapWithTargets(
      spec.letters.size(), from, op.getContext()));
  spec.results.push_back(AffineMap::getMultiDimMapWithTargets(
      spec.letters.size(), ArrayRef<unsigned>{0, 1}, op.getContext()));
  return spec;
}

LogicalResult inferShape(TransposeOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  SmallVector<int64_t> sorted(op.getPermutation());
  llvm::sort(sorted);
  for (int64_t i = 0; i < (int64_t)sorted.size(); ++i)
    if (sorted[i] != i)
      return fail(loc, "'mg.transpose' op ", text(op.getPermutation()),
                  " is no permutation");
  if ((int64_t)sorted.size() != type.getRank())
    return fail(loc, "'mg.transpose' op permutes ", sorted.size(),
                " dimensions, the operand has ", type.getRank());
  for (int64_t dim : op.getPermutation())
    shape.push_back(type.getDimSize(dim));
  return success();
}
IndexSpec customIndex(TransposeOp op) {
  SmallVector<int64_t> inverse(op.getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(op.getPermutation()))
    inverse[dim] = i;
  return parallelNest(op, {selectDims(op, inverse)});
}

//===-- slice, pad, concatenate

LogicalResult inferShape(SliceOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  int64_t axis = op.getAxis(), start = op.getStart(), limit = op.getLimit(),
          stride = op.getStride();
  if (failed(checkAxis(loc, "mg.slice", axis, type.getRank())))
    return failure();
  if (start < 0 || limit <= start || limit > type.getDimSize(axis) ||
      stride < 1)
    return fail(loc, "'mg.slice' op ", start, " to ", limit, " step ", stride,
                " does not lie in 0 to ", type.getDimSize(axis));
  llvm::append_range(shape, type.getShape());
  shape[axis] = (limit - start - 1) / stride + 1;
  return success();
}
IndexSpec customIndex(SliceOp op) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(
      tensorOf(op.getY()).getRank(), op.getContext());
  SmallVector<AffineExpr> exprs(identity.getResults());
  exprs[op.getAxis()] = exprs[op.getAxis()] * op.getStride() + op.getStart();
  IndexSpec spec = parallelNest(
      op, {AffineMap::get(identity.getNumDims(), 0, exprs, op.getContext())});
  if (tensorOf(op.getX()).getDimSize(op.getAxis()) !=
      spec.extents[op.getAxis()])
    spec.kinds[op.getAxis()] = LetterKind::Opaque;
  return spec;
}

LogicalResult inferShape(PadOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(op.getX());
  int64_t axis = op.getAxis();
  if (failed(checkAxis(loc, "mg.pad", axis, type.getRank())))
    return failure();
  for (uint64_t count : {op.getLow(), op.getHigh(), op.getInterior()})
    if ((int64_t)count < 0)
      return fail(loc,
                  "'mg.pad' op cannot pad by a negative number; use mg.slice");
    else if ((int64_t)count > kMostElements)
      return fail(loc, "'mg.pad' op pads by ", count,
                  ", expected at most 2^40");
  llvm::append_range(shape, type.getShape());
  shape[axis] += op.getLow() + op.getHigh() +
                 std::max<int64_t>(shape[axis] - 1, 0) * op.getInterior();
  return success();
}
/// The operand is loaded in the body, where the point lies inside it; its map
/// here only says which letters it shares.
IndexSpec customIndex(PadOp op) {
  IndexSpec spec =
      parallelNest(op, {AffineMap::getMultiDimIdentityMap(
                           tensorOf(op.getY()).getRank(), op.getContext())});
  spec.kinds[op.getAxis()] = LetterKind::Opaque;
  return spec;
}
void customBody(PadOp op, ScalarBuilder &b, ValueRange operands,
                SmallVectorImpl<Value> &results) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  int64_t extent = tensorOf(op.getX()).getDimSize(op.getAxis()),
          step = op.getInterior() + 1;
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(n));
  };
  Value shifted = arith::SubIOp::create(
      builder, loc, b.positionOf(op.getAxis()), number(op.getLow()));
  Value nearest = arith::MinSIOp::create(
      builder, loc, arith::MaxSIOp::create(builder, loc, shifted, number(0)),
      number((extent - 1) * step));
  Value source = arith::DivSIOp::create(builder, loc, nearest, number(step));
  Value inside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq,
      arith::MulIOp::create(builder, loc, source, number(step)), shifted);
  SmallVector<Value> point;
  for (int64_t dim = 0; dim < tensorOf(op.getX()).getRank(); ++dim)
    point.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        dim == (int64_t)op.getAxis() ? source : b.positionOf(dim)));
  Value element = tensor::ExtractOp::create(builder, loc, operands[0], point);
  results.push_back(b.select(inside, element, b.number(0)).value);
}

LogicalResult inferShape(ConcatenateOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  if (op.getInputs().empty())
    return fail(loc, "'mg.concatenate' op needs at least one operand");
  llvm::append_range(shape, tensorOf(op.getInputs().front()).getShape());
  int64_t axis = op.getAxis();
  if (failed(checkAxis(loc, "mg.concatenate", axis, shape.size())))
    return failure();
  for (auto [i, input] : llvm::enumerate(op.getInputs().drop_front())) {
    SmallVector<int64_t> other(tensorOf(input).getShape());
    if (other.size() != shape.size())
      return fail(loc, "'mg.concatenate' op operand #", i + 1, " has rank ",
                  other.size(), ", expected ", shape.size());
    int64_t extent = other[axis];
    other[axis] = shape[axis];
    if (ArrayRef<int64_t>(other) != ArrayRef<int64_t>(shape))
      return fail(loc, "'mg.concatenate' op operand #", i + 1, " of type ",
                  input.getType(), " does not fit along axis ", axis);
    shape[axis] += extent;
  }
  return success();
}
IndexSpec customIndex(ConcatenateOp op) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(
      tensorOf(op.getY()).getRank(), op.getContext());
  IndexSpec spec =
      parallelNest(op, SmallVector<AffineMap>(op.getInputs().size(), identity));
  spec.kinds[op.getAxis()] = LetterKind::Opaque;
  return spec;
}
void customVjp(ConcatenateOp op, RuleBuilder &b, ValueRange gradients,
               SmallVectorImpl<Value> &operandGradients) {
  OpBuilder &builder = b.getBuilder();
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t limit = start + tensorOf(input).getDimSize(op.getAxis());
    Term part = b.op("mg.slice", {Term(gradients[0])},
                     {b.attribute("axis", op.getAxisAttr()),
                      b.attribute("start", builder.getI64IntegerAttr(start)),
                      b.attribute("limit", builder.getI64IntegerAttr(limit))});
    operandGradients.push_back(part.value);
    start = limit;
  }
}
/// Each operand padded to the whole; the position says which one counts.
LogicalResult customDecompose(ConcatenateOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  OpBuilder &builder = b.getBuilder();
  RankedTensorType type = tensorOf(op.getY());
  Term position = b.iota(op.getAxis(), type.getShape());
  int64_t start = 0, whole = type.getDimSize(op.getAxis());
  std::optional<Term> all;
  for (Value input : op.getInputs()) {
    int64_t limit = start + tensorOf(input).getDimSize(op.getAxis());
    Term padded =
        b.op("mg.pad", {Term(input)},
             {b.attribute("axis", op.getAxisAttr()),
              b.attribute("low", builder.getI64IntegerAttr(start)),
              b.attribute("high", builder.getI64IntegerAttr(whole - limit))});
    all = all ? b.select(b.lt(position, Term((double)start)), *all, padded)
              : padded;
    start = limit;
  }
  results.push_back(all->value);
  return success();
}

LogicalResult OneHotOp::verify() {
  if ((int64_t)getDepth() >= 1)
    return success();
  return emitOpError() << "has depth " << (int64_t)getDepth()
                       << ", expected at least 1";
}
LogicalResult ScatterAddOp::verify() {
  if ((int64_t)getExtent() >= 1)
    return success();
  return emitOpError() << "has extent " << (int64_t)getExtent()
                       << ", expected at least 1";
}
void customBody(OneHotOp, ScalarBuilder &b, ValueRange operands,
                SmallVectorImpl<Value> &results) {
  Scalar hit = b.eq(operands[0], b.position('d'));
  Value one = b.result(b.number(1)), zero = b.result(b.number(0));
  results.push_back(b.select(hit, one, zero).value);
}

} // namespace mlir::mg
