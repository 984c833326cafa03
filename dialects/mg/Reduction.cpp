// Reductions: shapes and maps that follow from `axes`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

namespace mlir::mg {

static LogicalResult reducedShape(std::optional<Location> loc, StringRef name,
                                  Value x, ArrayRef<int64_t> axes,
                                  SmallVectorImpl<int64_t> &shape) {
  RankedTensorType type = tensorOf(x);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= type.getRank())
      return emitOptionalError(loc, "'", name, "' op axis ", axis,
                               " is outside 0 … ", type.getRank() - 1,
                               " (the operand has rank ", type.getRank(), ")");
    if (llvm::is_contained(axes.drop_front(i + 1), axis))
      return emitOptionalError(loc, "'", name, "' op names axis ", axis,
                               " twice");
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      shape.push_back(type.getDimSize(dim));
  return success();
}

static IndexSpec reductionNest(Operation *op, ArrayRef<int64_t> axes,
                               LetterKind kind) {
  RankedTensorType type = tensorOf(op->getOperand(0));
  IndexSpec spec;
  SmallVector<unsigned> from(type.getRank()), to;
  for (bool reduced : {false, true})
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (llvm::is_contained(axes, dim) == reduced) {
        from[dim] = spec.letters.size();
        if (!reduced)
          to.push_back(spec.letters.size());
        spec.letters.push_back('.');
        spec.kinds.push_back(reduced ? kind : LetterKind::Parallel);
        spec.extents.push_back(type.getDimSize(dim));
      }
  spec.operands.push_back(AffineMap::getMultiDimMapWithTargets(
      from.size(), from, op->getContext()));
  spec.results.push_back(
      AffineMap::getMultiDimMapWithTargets(from.size(), to, op->getContext()));
  return spec;
}

#define MG_REDUCTION(Op, kind)                                                 \
  LogicalResult inferShape(Op::Adaptor op, std::optional<Location> loc,        \
                           SmallVectorImpl<int64_t> &shape) {                  \
    return reducedShape(loc, Op::getOperationName(), op.getX(), op.getAxes(),  \
                        shape);                                                \
  }                                                                            \
  IndexSpec customIndex(Op op) { return reductionNest(op, op.getAxes(), kind); }
MG_REDUCTION(ReduceSumOp, LetterKind::Sum)
MG_REDUCTION(ReduceProdOp, LetterKind::Prod)
MG_REDUCTION(ReduceMaxOp, LetterKind::Max)
MG_REDUCTION(ReduceMinOp, LetterKind::Min)
MG_REDUCTION(ReduceMeanOp, LetterKind::Opaque)
#undef MG_REDUCTION

/// Positions that hold the maximum (or a NaN, where there is one) compete for
/// the smallest.
LogicalResult customDecompose(ArgMaxOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  Term x(op.getX());
  RankedTensorType type = tensorOf(op.getX());
  Term largest = b.eq(x, b.expand_last(b.reduce_last("max", x), x));
  if (isa<FloatType>(type.getElementType()))
    largest = b.bitOr(largest, b.ne(x, x));
  Term position = b.iota(type.getRank() - 1, type.getShape());
  Term candidates =
      b.select(largest, position, b.number((double)type.getShape().back()));
  results.push_back(b.reduce_last("min", candidates).value);
  return success();
}

} // namespace mlir::mg
