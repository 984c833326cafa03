// Element-wise ops: what their records cannot say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

#include "mlir/IR/Matchers.h"

namespace mlir::mg {

void customBody(CompareOp op, ScalarBuilder &b, ValueRange operands,
                SmallVectorImpl<Value> &results) {
  results.push_back(
      b.compare((int)op.getComparison(), operands[0], operands[1]).value);
}

void customBody(CastOp op, ScalarBuilder &b, ValueRange operands,
                SmallVectorImpl<Value> &results) {
  results.push_back(
      b.cast(operands[0], tensorOf(op.getX()).getElementType(), op.getTo()));
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() &&
                 isa<RankedTensorType>(getX().getType())
             ? getX()
             : Value();
}

/// True if `value` is a constant whose elements all equal n.
static bool isSplat(Value value, double n) {
  DenseElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)) ||
      !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble() == n;
  return elements.getSplatValue<APInt>().getSExtValue() == (int64_t)n;
}

/// The other operand where `neutral` stands on the right (or, if it commutes,
/// on the left). Only exact identities: x + 0 is not one for x = -0, but -0 and
/// 0 are equal as numbers and as weights.
static OpFoldResult foldNeutral(Value a, Value b, double neutral,
                                bool commutes) {
  if (!b)
    return {};
  if (isSplat(b, neutral))
    return a;
  return commutes && isSplat(a, neutral) ? OpFoldResult(b) : OpFoldResult();
}
OpFoldResult AddOp::fold(FoldAdaptor) {
  return foldNeutral(getA(), getB(), 0, true);
}
OpFoldResult SubtractOp::fold(FoldAdaptor) {
  return foldNeutral(getA(), getB(), 0, false);
}
OpFoldResult MultiplyOp::fold(FoldAdaptor) {
  return foldNeutral(getA(), getB(), 1, true);
}
OpFoldResult DivideOp::fold(FoldAdaptor) {
  return foldNeutral(getA(), getB(), 1, false);
}
OpFoldResult PowerOp::fold(FoldAdaptor) {
  return foldNeutral(getA(), getB(), 1, false);
}
OpFoldResult MaximumOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MinimumOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RemainderOp::fold(FoldAdaptor) { return {}; }

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getA() == getB())
    return getA();
  DenseElementsAttr condition;
  if (matchPattern(getCondition(), m_Constant(&condition)) &&
      condition.isSplat())
    return condition.getSplatValue<bool>() ? getA() : getB();
  return {};
}

} // namespace mlir::mg
