// Emits the scalar code of an op at one point of its loop nest, as arith and
// math ops inside a linalg.generic body.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Index.h"
#include "mlir/IR/Builders.h"

namespace mlir::mg {

/// A scalar, or a number that takes the type of what it meets.
struct Scalar {
  Scalar(Value value) : value(value) {}
  explicit Scalar(double number) : number(number) {}
  Value value;
  double number = 0;
};

class ScalarBuilder {
public:
  /// `operandTypes` are the op's element types with their signedness; the
  /// values themselves are signless.
  ScalarBuilder(OpBuilder &builder, Location loc, const IndexSpec &spec,
                ArrayRef<Type> operandTypes, Type resultType)
      : builder(builder), loc(loc), spec(spec), operandTypes(operandTypes),
        resultType(resultType) {}

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  Type getResultType() const { return resultType; }
  bool isUnsigned(unsigned operand) const {
    return operandTypes[operand].isUnsignedInteger() ||
           operandTypes[operand].isInteger(1);
  }

  Value result(Scalar s);
  Scalar number(double n) { return Scalar(n); }
  Scalar position(char letter); // where this point lies along a letter, as i64
  Value positionOf(unsigned letter); // the same by number

  Scalar add(Scalar a, Scalar b);
  Scalar sub(Scalar a, Scalar b);
  Scalar mul(Scalar a, Scalar b);
  Scalar div(Scalar a, Scalar b); // integers: never traps, see mg.divide
  Scalar rem(Scalar a, Scalar b);
  Scalar neg(Scalar a);
  Scalar max(Scalar a, Scalar b); // NaN if either is
  Scalar min(Scalar a, Scalar b);
  Scalar pow(Scalar a, Scalar b);
  Scalar bitAnd(Scalar a, Scalar b);
  Scalar bitOr(Scalar a, Scalar b);
  Scalar bitXor(Scalar a, Scalar b);
  Scalar eq(Scalar a, Scalar b) { return compare(0, a, b); }
  Scalar ne(Scalar a, Scalar b) { return compare(1, a, b); }
  Scalar lt(Scalar a, Scalar b) { return compare(2, a, b); }
  Scalar le(Scalar a, Scalar b) { return compare(3, a, b); }
  Scalar gt(Scalar a, Scalar b) { return compare(4, a, b); }
  Scalar ge(Scalar a, Scalar b) { return compare(5, a, b); }
  Scalar compare(int comparison, Scalar a,
                 Scalar b); // the values of mg::Comparison
  Scalar select(Scalar condition, Scalar a, Scalar b);

  Scalar exp(Scalar x);
  Scalar expm1(Scalar x);
  Scalar log(Scalar x);
  Scalar log1p(Scalar x);
  Scalar tanh(Scalar x);
  Scalar sqrt(Scalar x);
  Scalar sin(Scalar x);
  Scalar cos(Scalar x);
  Scalar erf(Scalar x);
  Scalar abs(Scalar x);
  Scalar floor(Scalar x);
  Scalar ceil(Scalar x);
  Scalar trunc(Scalar x);
  Scalar roundeven(Scalar x);

  /// Converts between element types as mg.cast says.
  Value cast(Value x, Type from, Type to);

private:
  Type unify(Scalar &a, Scalar &b);
  Scalar quotient(Scalar a, Scalar b);
  Scalar remainder(Scalar a, Scalar b);
  Scalar safeDivisor(Scalar a, Scalar b);
  Value constant(double n, Type type);
  bool anyUnsigned() const;

  OpBuilder &builder;
  Location loc;
  const IndexSpec &spec;
  ArrayRef<Type> operandTypes;
  Type resultType;
};

} // namespace mlir::mg
