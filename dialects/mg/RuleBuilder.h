// Builds mg ops from the expressions of op records (vjp, decompose). Numbers
// stay numbers until an op needs a tensor; sums and products with 0 and 1 fold
// on the way; operands of element-wise ops broadcast.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace mlir::mg {

/// A tensor, or a number that takes the type of what it meets.
struct Term {
  Term(Value value) : value(value) {}
  explicit Term(double number) : number(number) {}
  bool isNumber(double n) const { return !value && number == n; }
  Value value;
  double number = 0;
};

class RuleBuilder {
public:
  /// Ops are created at `builder` with `loc`; a result that is a bare number
  /// takes the type of `like`.
  RuleBuilder(OpBuilder &builder, Location loc, Value like)
      : builder(builder), loc(loc), like_(like) {}

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }

  /// The op `name` on typed operands; its types are inferred. Element-wise
  /// operands are broadcast to one shape.
  Term op(StringRef name, ArrayRef<Term> operands,
          ArrayRef<NamedAttribute> attributes = {});
  Value value(Term term) { return materialize(term, like_.getType()); }
  Term number(double n) { return Term(n); }

  Term add(Term a, Term b);
  Term sub(Term a, Term b);
  Term mul(Term a, Term b);
  Term div(Term a, Term b);
  Term neg(Term a);
  Term eq(Term a, Term b) { return compare("eq", a, b); }
  Term ne(Term a, Term b) { return compare("ne", a, b); }
  Term lt(Term a, Term b) { return compare("lt", a, b); }
  Term le(Term a, Term b) { return compare("le", a, b); }
  Term gt(Term a, Term b) { return compare("gt", a, b); }
  Term ge(Term a, Term b) { return compare("ge", a, b); }
  Term compare(StringRef comparison, Term a, Term b);
  Term bitAnd(Term a, Term b) { return op("mg.and", {a, b}); }
  Term bitOr(Term a, Term b) { return op("mg.or", {a, b}); }
  Term bitXor(Term a, Term b) { return op("mg.xor", {a, b}); }
  Term select(Term condition, Term a, Term b);

  // Attributes.
  NamedAttribute attribute(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  Attribute attribute(ArrayRef<int64_t> values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  Attribute shape(Term x); // x's shape
  Attribute inverse(DenseI64ArrayAttr permutation);
  Attribute extent(Term x, Term dim); // x's size in dim
  Attribute rows_by_rest(Term x);     // [rows, product of the rest]

  // Shapes.
  Term cast(Term x, Type element);
  Term cast_like(Term x, StringRef element); // "i64"
  Term cast_back(Term gradient,
                 Term x); // to x's element type; none for integers
  Term like(Term number, Term shape,
            Term element); // a constant of that shape and element type
  Term expand(Term x, Term full,
              DenseI64ArrayAttr
                  axes); // repeats x along the `axes` of `full` that it lacks
  Term expand_last(Term x, Term full);
  Term reduce_last(StringRef kind,
                   Term x); // "sum", "max" over the last dimension
  Term sum_to(
      Term x,
      DenseI64ArrayAttr dims); // sums all dimensions but `dims`, in that order
  Term row_mean(Term x);       // mean of all dimensions but the first
  Term count(Term x,
             DenseI64ArrayAttr axes); // number of elements that are reduced
  Term broadcastTo(
      Term x,
      ArrayRef<int64_t> shape); // NumPy's rule: trailing dimensions align
  Term iota(int64_t axis, ArrayRef<int64_t> shape);
  Term pair(Term first, Term second); // two rank-0 values as tensor<2>

  // Parts of derivatives.
  Term tie_share(Term a,
                 Term b); // 1 where a > b, 1/2 where equal, else 0 (NaN: 1)
  Term share_ties(Term gradient, Term x, Term y, DenseI64ArrayAttr axes);
  Term d_y_of_product(Term gradient, Term x, DenseI64ArrayAttr axes);
  Term pad_back(Term gradient, Term x, IntegerAttr axis, IntegerAttr start,
                IntegerAttr stride);
  Term slice_back(Term gradient, Term x, IntegerAttr axis, IntegerAttr low,
                  IntegerAttr interior);
  Term at_label(Term labels, Term there,
                Term elsewhere); // along the last dimension
  Term matrix_product(Term a, Term b);

private:
  Value materialize(Term term, Type type);
  Term arithmetic(StringRef name, Term a, Term b);

  OpBuilder &builder;
  Location loc;
  Value like_;
};

/// The typed form of `surface`, an op of a model file, on typed operands: `by`
/// becomes a constant, broadcasts become explicit. Null after an error at the
/// op.
Value buildTyped(OpBuilder &builder, Operation &surface, ValueRange operands,
                 ArrayRef<NamedAttribute> extra = {});

} // namespace mlir::mg
