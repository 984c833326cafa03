// Uniform: 24 (f64: 32) random bits. Normal: Box-Muller on two streams.
// Truncated normal: the inverse of the normal distribution function on the part
// within two standard deviations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/Initializers.h"
#include "compiler/autodiff/Adjoint.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace mlir::mg {
namespace {

uint32_t fnv1a(StringRef path) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : path)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

class Initializer {
public:
  Initializer(OpBuilder &builder, Location loc, RankedTensorType type,
              StringRef path, Value seed)
      : builder(builder), b(builder, loc, seed), type(type), path(path),
        seed(seed) {}

  Term constant(double value) {
    return b.like(Term(value), shapeOnly(), element());
  }

  /// Uniform in [0, 1): f32 from the upper 24 bits, f64 from all 32.
  Term unit(StringRef stream) {
    auto i64 = [&](int64_t n) {
      return b.like(Term((double)n), Term(seed), Term(seed));
    };
    Term bits =
        b.op("mg.random_bits", {Term(seed), i64(0xffffffff), i64(0)},
             {b.attribute("key", builder.getI32IntegerAttr(
                                     (int32_t)fnv1a((path + stream).str()))),
              b.attribute("shape", b.attribute(type.getShape())),
              b.attribute("rows", builder.getBoolAttr(false))});
    Term word = b.bitAnd(b.cast_like(bits, "i64"), Term(4294967295.0));
    bool single = type.getElementType().isF32();
    if (single)
      word = b.div(word, Term(256.0));
    return b.mul(b.cast(word, type.getElementType()),
                 Term(std::ldexp(1.0, single ? -24 : -32)));
  }
  Term uniform(double low, double high) {
    return b.add(b.mul(unit(""), Term(high - low)), Term(low));
  }

  /// sqrt(-2 ln(1 - u1))·cos(2π u2).
  Term normal(double mean, double stddev) {
    Term radius = b.op(
        "mg.sqrt",
        {b.mul(b.op("mg.log", {b.sub(constant(1), unit(""))}), Term(-2.0))});
    Term angle = b.op("mg.cosine", {b.mul(unit("#2"), Term(2 * M_PI))});
    return b.add(b.mul(b.mul(radius, angle), Term(stddev)), Term(mean));
  }

  /// √2·erfinv(t) with t uniform between ±erf(√2), i.e. a normal value within
  /// ±2.
  Term truncatedNormal(double mean, double stddev) {
    double edge = std::erf(std::sqrt(2.0));
    Term t = b.add(b.mul(unit(""), Term(2 * edge)), Term(-edge));
    return b.add(b.mul(inverseErf(t), Term(std::sqrt(2.0) * stddev)),
                 Term(mean));
  }

private:
  /// M. Giles, "Approximating the erfinv function", GPU Computing Gems 2, 2010:
  /// single-precision form, |error| < 6e-7 on ±0.9545.
  Term inverseErf(Term t) {
    Term w = b.neg(
        b.op("mg.log", {b.mul(b.sub(constant(1), t), b.add(constant(1), t))}));
    static const double central[] = {
        2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
        -4.39150654e-06, 0.00021858087,  -0.00125372503,
        -0.00417768164,  0.246640727,    1.50140941};
    Term x = b.sub(w, Term(2.5));
    Term p = constant(central[0]);
    for (double c : llvm::ArrayRef<double>(central).drop_front())
      p = b.add(b.mul(p, x), Term(c));
    return b.mul(p, t);
  }
  Term shapeOnly() {
    Value zero = ConstantOp::create(
        builder, b.getLoc(), type,
        DenseElementsAttr::get(
            type, Attribute(FloatAttr::get(type.getElementType(), 0.0))));
    return Term(zero);
  }
  Term element() { return shapeOnly(); }

  OpBuilder &builder;
  RuleBuilder b;
  RankedTensorType type;
  StringRef path;
  Value seed;
};

/// Keras' fans: the last two dimensions times the receptive field before them;
/// a vector counts its length both ways.
std::pair<double, double> fans(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty())
    return {1, 1};
  if (shape.size() == 1)
    return {(double)shape[0], (double)shape[0]};
  double field = 1;
  for (int64_t extent : shape.drop_back(2))
    field *= extent;
  return {field * shape[shape.size() - 2], field * shape.back()};
}

} // namespace

FailureOr<Value> buildInitializer(OpBuilder &builder, VariablesOp group,
                                  size_t index, StringRef path, Value seed) {
  auto type = cast<RankedTensorType>(
      cast<TypeAttr>(group.getTypes()[index]).getValue());
  StringRef name = cast<StringAttr>(group.getInitializers()[index]).getValue();
  ArrayRef<double> values =
      cast<DenseF64ArrayAttr>(group.getParameters()[index]).asArrayRef();
  Initializer make(builder, renamed(group.getLoc(), path), type, path, seed);
  int wanted =
      llvm::StringSwitch<int>(name)
          .Cases({"zeros", "ones", "glorot_uniform", "glorot_normal",
                  "he_uniform", "he_normal", "lecun_uniform", "lecun_normal"},
                 0)
          .Case("constant", 1)
          .Cases({"uniform", "normal", "truncated_normal"}, 2)
          .Default(-1);
  if (wanted < 0)
    return group.emitOpError()
           << "has no initializer '" << name
           << "'; there are zeros, ones, constant, uniform, normal, "
              "truncated_normal, and "
           << "glorot, he, lecun each with _uniform and _normal";
  if (wanted != (int)values.size())
    return group.emitOpError()
           << "gives initializer '" << name << "' " << values.size()
           << " numbers, expected " << wanted;
  if (name == "uniform" && values[0] > values[1])
    return group.emitOpError()
           << "draws from uniform(" << shortNumber(values[0]) << ", "
           << shortNumber(values[1]) << "): the lower bound comes first";
  if (name.ends_with("normal") && wanted == 2 && values[1] < 0)
    return group.emitOpError()
           << "draws from " << name << "(" << shortNumber(values[0]) << ", "
           << shortNumber(values[1])
           << "): the second number, the standard deviation, is negative";
  if (name == "zeros" || name == "ones" || name == "constant")
    return make.constant(name == "zeros"  ? 0
                         : name == "ones" ? 1
                                          : values[0])
        .value;
  if (name == "uniform")
    return make.uniform(values[0], values[1]).value;
  if (name == "normal")
    return make.normal(values[0], values[1]).value;
  if (name == "truncated_normal")
    return make.truncatedNormal(values[0], values[1]).value;
  auto [fanIn, fanOut] = fans(type);
  double scale = name.starts_with("glorot") ? 2 / (fanIn + fanOut)
                 : name.starts_with("he")   ? 2 / fanIn
                                            : 1 / fanIn;
  if (name.ends_with("_uniform"))
    return make.uniform(-std::sqrt(3 * scale), std::sqrt(3 * scale)).value;
  // The standard deviation of a normal value cut at ±2 is 0.8796…; dividing
  // makes up for it (Keras' VarianceScaling).
  return make.truncatedNormal(0, std::sqrt(scale) / 0.87962566103423978).value;
}

} // namespace mlir::mg
