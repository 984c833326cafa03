// Scalar code: each method is one arith or math op, chosen by float or integer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

namespace mlir::mg {

Value ScalarBuilder::constant(double n, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(real, n));
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, (int64_t)n));
}

Value ScalarBuilder::result(Scalar s) {
  if (!s.value)
    return constant(s.number, resultType);
  if (s.value.getType() == resultType)
    return s.value;
  return cast(s.value, s.value.getType(), resultType);
}

Value ScalarBuilder::positionOf(unsigned letter) {
  Value index = linalg::IndexOp::create(builder, loc, letter);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}
Scalar ScalarBuilder::position(char letter) {
  return positionOf(spec.letter(letter));
}

bool ScalarBuilder::anyUnsigned() const {
  return !operandTypes.empty() && llvm::any_of(operandTypes, [](Type type) {
    return type.isUnsignedInteger() || type.isInteger(1);
  });
}

Type ScalarBuilder::unify(Scalar &a, Scalar &b) {
  if (!a.value && !b.value)
    a = constant(a.number, resultType);
  if (!a.value)
    a = constant(a.number, b.value.getType());
  if (!b.value)
    b = constant(b.number, a.value.getType());
  Type x = a.value.getType(), y = b.value.getType();
  if (x !=
      y) { // integers of different width meet as i64: a label and a position
    auto widen = [&](Value v) -> Value {
      if (v.getType().isInteger(64))
        return v;
      if (anyUnsigned())
        return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), v);
      return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), v);
    };
    a = widen(a.value);
    b = widen(b.value);
  }
  return a.value.getType();
}

#define MG_BINARY(method, FloatOp, IntOp)                                      \
  Scalar ScalarBuilder::method(Scalar a, Scalar b) {                           \
    if (isa<FloatType>(unify(a, b)))                                           \
      return Value(FloatOp::create(builder, loc, a.value, b.value));           \
    return Value(IntOp::create(builder, loc, a.value, b.value));               \
  }
MG_BINARY(add, arith::AddFOp, arith::AddIOp)
MG_BINARY(sub, arith::SubFOp, arith::SubIOp)
MG_BINARY(mul, arith::MulFOp, arith::MulIOp)
#undef MG_BINARY

#define MG_SIGNED_BINARY(method, FloatOp, SignedOp, UnsignedOp)                \
  Scalar ScalarBuilder::method(Scalar a, Scalar b) {                           \
    if (isa<FloatType>(unify(a, b)))                                           \
      return Value(FloatOp::create(builder, loc, a.value, b.value));           \
    if (anyUnsigned())                                                         \
      return Value(UnsignedOp::create(builder, loc, a.value, b.value));        \
    return Value(SignedOp::create(builder, loc, a.value, b.value));            \
  }
MG_SIGNED_BINARY(quotient, arith::DivFOp, arith::DivSIOp, arith::DivUIOp)
MG_SIGNED_BINARY(remainder, arith::RemFOp, arith::RemSIOp, arith::RemUIOp)
MG_SIGNED_BINARY(max, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp)
MG_SIGNED_BINARY(min, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp)
#undef MG_SIGNED_BINARY

#define MG_BITS(method, Op)                                                    \
  Scalar ScalarBuilder::method(Scalar a, Scalar b) {                           \
    unify(a, b);                                                               \
    return Value(Op::create(builder, loc, a.value, b.value));                  \
  }
MG_BITS(bitAnd, arith::AndIOp)
MG_BITS(bitOr, arith::OrIOp)
MG_BITS(bitXor, arith::XOrIOp)
#undef MG_BITS

/// 1 where a division of integers would trap: by 0, and the smallest by -1.
Scalar ScalarBuilder::safeDivisor(Scalar a, Scalar b) {
  Scalar traps = eq(b, number(0));
  if (!anyUnsigned()) {
    unsigned bits = b.value.getType().getIntOrFloatBitWidth();
    Scalar smallest = number(-std::ldexp(1.0, bits - 1));
    traps = bitOr(traps, bitAnd(eq(b, number(-1)), eq(a, smallest)));
  }
  return select(traps, number(1), b);
}

Scalar ScalarBuilder::div(Scalar a, Scalar b) {
  if (isa<FloatType>(unify(a, b)))
    return quotient(a, b);
  return select(eq(b, number(0)), number(-1), quotient(a, safeDivisor(a, b)));
}

Scalar ScalarBuilder::rem(Scalar a, Scalar b) {
  if (isa<FloatType>(unify(a, b)))
    return remainder(a, b);
  return select(eq(b, number(0)), a, remainder(a, safeDivisor(a, b)));
}

#define MG_FUNCTION(method, Op)                                                \
  Scalar ScalarBuilder::method(Scalar x) {                                     \
    if (!x.value)                                                              \
      x = constant(x.number, resultType);                                      \
    return Value(Op::create(builder, loc, x.value));                           \
  }
MG_FUNCTION(exp, math::ExpOp)
MG_FUNCTION(expm1, math::ExpM1Op)
MG_FUNCTION(log, math::LogOp)
MG_FUNCTION(log1p, math::Log1pOp)
MG_FUNCTION(tanh, math::TanhOp)
MG_FUNCTION(sqrt, math::SqrtOp)
MG_FUNCTION(sin, math::SinOp)
MG_FUNCTION(cos, math::CosOp)
MG_FUNCTION(erf, math::ErfOp)
MG_FUNCTION(floor, math::FloorOp)
MG_FUNCTION(ceil, math::CeilOp)
MG_FUNCTION(trunc, math::TruncOp)
MG_FUNCTION(roundeven, math::RoundEvenOp)
#undef MG_FUNCTION

Scalar ScalarBuilder::pow(Scalar a, Scalar b) {
  unify(a, b);
  return Value(math::PowFOp::create(builder, loc, a.value, b.value));
}

Scalar ScalarBuilder::neg(Scalar a) {
  if (!a.value)
    return Scalar(-a.number);
  if (isa<FloatType>(a.value.getType()))
    return Value(arith::NegFOp::create(builder, loc, a.value));
  return sub(constant(0, a.value.getType()), a);
}

Scalar ScalarBuilder::abs(Scalar x) {
  if (isa<FloatType>(x.value.getType()))
    return Value(math::AbsFOp::create(builder, loc, x.value));
  return anyUnsigned() ? x : Value(math::AbsIOp::create(builder, loc, x.value));
}

Scalar ScalarBuilder::compare(int comparison, Scalar a, Scalar b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static const F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static const I signedInts[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static const I unsignedInts[] = {I::eq,  I::ne,  I::ult,
                                   I::ule, I::ugt, I::uge};
  if (isa<FloatType>(unify(a, b)))
    return Value(arith::CmpFOp::create(builder, loc, floats[comparison],
                                       a.value, b.value));
  I predicate = (anyUnsigned() ? unsignedInts : signedInts)[comparison];
  return Value(
      arith::CmpIOp::create(builder, loc, predicate, a.value, b.value));
}

Scalar ScalarBuilder::select(Scalar condition, Scalar a, Scalar b) {
  unify(a, b);
  return Value(
      arith::SelectOp::create(builder, loc, condition.value, a.value, b.value));
}

/// Float to integer: truncated, saturated, NaN to 0; the bounds are compared in
/// floating point.
static Value saturate(OpBuilder &b, Location loc, Value x, unsigned width,
                      bool isUnsigned) {
  Type real = x.getType(), integer = b.getIntegerType(width);
  double low = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1),
         high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  auto constant = [&](double n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(real, n));
  };
  auto whole = [&](const APInt &n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, n));
  };
  APInt smallest =
      isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt largest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  auto test = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, bound);
  };
  Value tooLow = test(arith::CmpFPredicate::OLE, constant(low)),
        tooHigh = test(arith::CmpFPredicate::OGE, constant(high));
  Value undefined =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value outside = arith::OrIOp::create(
      b, loc, arith::OrIOp::create(b, loc, tooLow, tooHigh), undefined);
  Value safe = arith::SelectOp::create(b, loc, outside, constant(0), x);
  Value inside = isUnsigned
                     ? Value(arith::FPToUIOp::create(b, loc, integer, safe))
                     : Value(arith::FPToSIOp::create(b, loc, integer, safe));
  Value clamped =
      arith::SelectOp::create(b, loc, tooLow, whole(smallest), inside);
  return arith::SelectOp::create(b, loc, tooHigh, whole(largest), clamped);
}

Value ScalarBuilder::cast(Value x, Type from, Type to) {
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1),
       toUnsigned = to.isUnsignedInteger();
  Type target = isa<IntegerType>(to)
                    ? Type(builder.getIntegerType(to.getIntOrFloatBitWidth()))
                    : to;
  if (x.getType() == target)
    return x;
  if (to.isInteger(1))
    return ne(x, Scalar(0.0)).value;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  unsigned width = target.getIntOrFloatBitWidth(),
           old = x.getType().getIntOrFloatBitWidth();
  if (fromFloat && toFloat)
    return width > old
               ? Value(arith::ExtFOp::create(builder, loc, target, x))
               : Value(arith::TruncFOp::create(builder, loc, target, x));
  if (fromFloat)
    return saturate(builder, loc, x, width, toUnsigned);
  if (toFloat)
    return fromUnsigned
               ? Value(arith::UIToFPOp::create(builder, loc, target, x))
               : Value(arith::SIToFPOp::create(builder, loc, target, x));
  if (width < old)
    return arith::TruncIOp::create(builder, loc, target, x);
  return fromUnsigned ? Value(arith::ExtUIOp::create(builder, loc, target, x))
                      : Value(arith::ExtSIOp::create(builder, loc, target, x));
}

} // namespace mlir::mg
