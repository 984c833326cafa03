// Valid rows: what counts in sums, and which row has a bad position.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

#include "mlir/IR/Matchers.h"

namespace mlir::mg {

/// i1 of x's shape: whether the row is valid.
static Term validRows(RuleBuilder &b, Value x, Value rows) {
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  Term valid = b.lt(b.iota(0, {shape.front()}), Term(rows));
  if (shape.size() == 1)
    return valid;
  return b.op("mg.broadcast", {valid},
              {b.attribute("dims", b.attribute({0})),
               b.attribute("shape", b.attribute(shape))});
}
static Term zeroLike(RuleBuilder &b, Term x) { return b.like(Term(0.0), x, x); }

/// Over all dimensions of x; `kind` is "sum" or "max".
static Term reduceAll(RuleBuilder &b, StringRef kind, Term x) {
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x.value).getRank()));
  return b.op(("mg.reduce_" + kind).str(), {x},
              {b.attribute("axes", b.attribute(axes))});
}

/// All of the first operand's dimensions are reduced by `kind`; the result's
/// pair is a dimension of its own.
static IndexSpec pairNest(Operation *op, LetterKind kind) {
  IndexSpec spec;
  auto add = [&](LetterKind kind, int64_t extent) {
    spec.letters.push_back('.');
    spec.kinds.push_back(kind);
    spec.extents.push_back(extent);
  };
  add(LetterKind::Parallel, 2);
  for (int64_t extent : tensorOf(op->getOperand(0)).getShape())
    add(kind, extent);
  unsigned letters = spec.letters.size();
  AffineMap all = AffineMap::getMultiDimIdentityMap(letters, op->getContext());
  for (Value operand : op->getOperands())
    spec.operands.push_back(tensorOf(operand).getRank()
                                ? all.getMinorSubMap(letters - 1)
                                : AffineMap::get(letters, 0, op->getContext()));
  spec.results.push_back(all.getMajorSubMap(1));
  return spec;
}
static LogicalResult pairShape(StringRef name, Value x,
                               std::optional<Location> loc,
                               SmallVectorImpl<int64_t> &shape) {
  if (tensorOf(x).getRank() == 0)
    return emitOptionalError(loc, "'", name,
                             "' op needs a batch dimension, found rank 0");
  shape.push_back(2);
  return success();
}

//===-- mask_rows

LogicalResult customDecompose(MaskRowsOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  Term x(op.getX());
  results.push_back(
      b.select(validRows(b, op.getX(), op.getRows()), x, zeroLike(b, x)).value);
  return success();
}

//===-- row_sums

LogicalResult inferShape(RowSumsOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType x = tensorOf(op.getX()), weight = tensorOf(op.getWeight());
  if (x.getShape() != weight.getShape())
    return emitOptionalError(loc, "'mg.row_sums' op x is ", x,
                             " but weight is ", weight);
  return pairShape("mg.row_sums", op.getX(), loc, shape);
}
IndexSpec customIndex(RowSumsOp op) { return pairNest(op, LetterKind::Sum); }

static bool isOne(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isExactlyValue(1.0);
}

/// Without weights the second sum is a count, which `rows` says already.
LogicalResult customDecompose(RowSumsOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  Type f64 = b.getBuilder().getF64Type();
  auto sum = [&](Term values) {
    Term wide = b.cast(values, f64);
    return reduceAll(b, "sum",
                     b.select(validRows(b, wide.value, op.getRows()), wide,
                              zeroLike(b, wide)));
  };
  Term x(op.getX()), weight(op.getWeight());
  bool counts = isOne(op.getWeight());
  Term first = sum(counts ? x : b.mul(weight, x));
  RankedTensorType type = tensorOf(op.getX());
  double entries = (double)(type.getNumElements() / type.getDimSize(0));
  Term second = counts ? b.mul(b.cast(Term(op.getRows()), f64), Term(entries))
                       : sum(weight);
  results.push_back(b.pair(first, second).value);
  return success();
}

//===-- first_bad_row

LogicalResult inferShape(FirstBadRowOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  return pairShape("mg.first_bad_row", op.getPositions(), loc, shape);
}
IndexSpec customIndex(FirstBadRowOp op) {
  return pairNest(op, LetterKind::Max);
}

/// A row's key is larger the earlier it is; the value shown is that of the row
/// with the largest key.
LogicalResult customDecompose(FirstBadRowOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  Term value = b.cast_like(Term(op.getPositions()), "i64");
  ArrayRef<int64_t> shape = tensorOf(op.getPositions()).getShape();
  Term outside = b.bitOr(b.lt(value, Term(0.0)),
                         b.ge(value, Term((double)op.getExtent())));
  Term bad = b.bitAnd(outside, validRows(b, op.getPositions(), op.getRows()));
  Term row = b.add(b.iota(0, shape), Term(op.getRow0()));
  Term start = b.like(Term(4611686018427387904.0), value, value);
  Term keys = b.select(bad, b.sub(start, row), zeroLike(b, value));
  Term key = reduceAll(b, "max", keys);
  Term worst = b.bitAnd(bad, b.eq(keys, b.broadcastTo(key, shape)));
  Term lowest = b.like(Term(-9223372036854775808.0), value, value);
  Term found = reduceAll(b, "max", b.select(worst, value, lowest));
  Term shown = b.select(b.gt(key, Term(0.0)), found, zeroLike(b, key));
  results.push_back(b.pair(key, shown).value);
  return success();
}

} // namespace mlir::mg
