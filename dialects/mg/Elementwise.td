// Element-wise ops: one scalar expression at each point. Broadcasting is an op of its own (mg.broadcast), which the model
// stage inserts by NumPy's rule.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_ELEMENTWISE_TD
#define MG_ELEMENTWISE_TD
include "dialects/mg/MgBase.td"

class MG_Unary<string mnemonic, Type type = MG_Float> : MG_Op<mnemonic, [MG_Elementwise]> {
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let index = "...->...";
  let element = "x";
  let assemblyFormat = "$x attr-dict custom<Types>(type($x), type($y))";
  let example = "mg." # mnemonic # " %x";
  let sample = "x: ?x3xf64";
}

// `mg.divide %x by 255.0` stands for a constant second operand of the same shape (model files only).
class MG_Binary<string mnemonic, Type type = MG_Number> : MG_Op<mnemonic, [MG_Elementwise, MG_SecondOperand]> {
  let arguments = (ins type:$a, Optional<type>:$b, OptionalAttr<F64Attr>:$by);
  let results = (outs type:$y);
  let index = "...,...->...";
  let element = "a";
  let assemblyFormat = "$a (`,` $b^)? (`by` $by^)? attr-dict custom<BinaryTypes>(ref($b), type($a), type($b), type($y))";
  let hasFolder = 1;
  let example = "mg." # mnemonic # " %a, %b";
  let sample = "a: ?x3xf64, b: ?x3xf64";
}

//===-- Arithmetic

def MG_AddOp : MG_Binary<"add"> {
  let summary = "sum";
  let body = "a + b";
  let vjp = ["d_y", "d_y"];
  let linear = "a,b";
  let reference = "a + b";
}
def MG_SubtractOp : MG_Binary<"subtract"> {
  let summary = "difference";
  let body = "a - b";
  let vjp = ["d_y", "-d_y"];
  let linear = "a,b";
  let reference = "a - b";
}
def MG_MultiplyOp : MG_Binary<"multiply"> {
  let summary = "product";
  let body = "a * b";
  let vjp = ["d_y * b", "d_y * a"];
  let linear = "a|b";
  let reference = "a * b";
}
def MG_DivideOp : MG_Binary<"divide"> {
  let summary = "quotient";
  let description = [{
    Integers: rounds toward zero; x / 0 has all bits set (-1 where signed), and the smallest by -1 is the smallest, as RISC-V
    defines it and XLA's CPU gives it.
  }];
  let body = "a / b";
  let vjp = ["d_y / b", "-(d_y * y / b)"];
  let linear = "a";
  let reference = "a / b";
}
def MG_MaximumOp : MG_Binary<"maximum"> {
  let summary = "larger of two; NaN if either is";
  let description = [{At a tie each operand gets half of the gradient, as in JAX.}];
  let body = "max(a, b)";
  let vjp = ["d_y * tie_share(a, b)", "d_y * tie_share(b, a)"];
  let reference = "numpy.maximum(a, b)";
}
def MG_MinimumOp : MG_Binary<"minimum"> {
  let summary = "smaller of two; NaN if either is";
  let description = [{At a tie each operand gets half of the gradient, as in JAX.}];
  let body = "min(a, b)";
  let vjp = ["d_y * tie_share(b, a)", "d_y * tie_share(a, b)"];
  let reference = "numpy.minimum(a, b)";
}
def MG_RemainderOp : MG_Binary<"remainder"> {
  let summary = "remainder of the division that rounds toward zero (C's fmod); the sign is the dividend's";
  let description = [{Integers: what is left of x by 0 is x, of the smallest by -1 it is 0.}];
  let body = "rem(a, b)";
  let vjp = ["d_y", "-(d_y * truncate(a / b))"];
  let reference = "numpy.fmod(a, b)";
}
def MG_PowerOp : MG_Binary<"power", MG_Float> {
  let summary = "a to the power b";
  let description = [{
    As C's pow: x^0 = 1 for every x, a negative base with an integer exponent is defined. The derivative by a is b·a^(b-1), and 0
    where b = 0; by b it is a^b·ln a, and 0 where a <= 0 (JAX at a = 0).
  }];
  let body = "pow(a, b)";
  let vjp = [
    "safe = select(b == 0, 1, b)",
    "select(b == 0, 0, d_y * b * power(a, safe - 1))",
    "select(a > 0, d_y * y * log(select(a > 0, a, 1)), 0)"];
  let reference = "numpy.power(a, b)";
  let sample = "a: ?x3xf64 positive, b: ?x3xf64";
}
def MG_NegateOp : MG_Unary<"negate", MG_Number> {
  let summary = "negation";
  let body = "-x";
  let vjp = ["-d_y"];
  let linear = "x";
  let reference = "-x";
}
def MG_AbsOp : MG_Unary<"abs", MG_Number> {
  let summary = "absolute value";
  let description = [{The derivative at 0 is 0.}];
  let body = "abs(x)";
  let vjp = ["d_y * sign(x)"];
  let reference = "numpy.abs(x)";
}
def MG_SignOp : MG_Unary<"sign", MG_Float> {
  let summary = "-1, 0 or 1; NaN stays NaN";
  let body = "select(x > 0, 1, select(x < 0, -1, x))";
  let vjp = ["d_y * 0"];
  let reference = "numpy.sign(x)";
}

//===-- Functions

def MG_ExponentialOp : MG_Unary<"exponential"> {
  let summary = "e to the power x";
  let body = "exp(x)";
  let vjp = ["d_y * y"];
  let reference = "numpy.exp(x)";
}
def MG_ExponentialMinusOneOp : MG_Unary<"exponential_minus_one"> {
  let summary = "e to the power x, minus 1, exact near 0";
  let body = "expm1(x)";
  let vjp = ["d_y * (y + 1)"];
  let reference = "numpy.expm1(x)";
}
def MG_LogOp : MG_Unary<"log"> {
  let summary = "natural logarithm";
  let body = "log(x)";
  let vjp = ["d_y / x"];
  let reference = "numpy.log(x)";
  let sample = "x: ?x3xf64 positive";
}
def MG_LogPlusOneOp : MG_Unary<"log_plus_one"> {
  let summary = "natural logarithm of 1 + x, exact near 0";
  let body = "log1p(x)";
  let vjp = ["d_y / (x + 1)"];
  let reference = "numpy.log1p(x)";
  let sample = "x: ?x3xf64 positive";
}
def MG_TanhOp : MG_Unary<"tanh"> {
  let summary = "hyperbolic tangent";
  let body = "tanh(x)";
  let vjp = ["d_y * (1 - y * y)"];
  let reference = "numpy.tanh(x)";
}
def MG_SigmoidOp : MG_Unary<"sigmoid"> {
  let summary = "1 / (1 + e^-x), StableHLO's logistic";
  let body = "1 / (1 + exp(-x))";
  let vjp = ["d_y * y * (1 - y)"];
  let reference = "1 / (1 + numpy.exp(-x))";
}
def MG_SqrtOp : MG_Unary<"sqrt"> {
  let summary = "square root";
  let body = "sqrt(x)";
  let vjp = ["d_y * 0.5 / y"];
  let reference = "numpy.sqrt(x)";
  let sample = "x: ?x3xf64 positive";
}
def MG_RsqrtOp : MG_Unary<"rsqrt"> {
  let summary = "1 / square root";
  let body = "1 / sqrt(x)";
  let vjp = ["d_y * -0.5 * y / x"];
  let reference = "1 / numpy.sqrt(x)";
  let sample = "x: ?x3xf64 positive";
}
def MG_SineOp : MG_Unary<"sine"> {
  let summary = "sine of an angle in radians";
  let body = "sin(x)";
  let vjp = ["d_y * cosine(x)"];
  let reference = "numpy.sin(x)";
}
def MG_CosineOp : MG_Unary<"cosine"> {
  let summary = "cosine of an angle in radians";
  let body = "cos(x)";
  let vjp = ["-(d_y * sine(x))"];
  let reference = "numpy.cos(x)";
}
def MG_ErfOp : MG_Unary<"erf"> {
  let summary = "error function";
  let body = "erf(x)";
  let vjp = ["d_y * 1.1283791670955126 * exponential(-(x * x))"];
  let reference = "erf(x)";
}
def MG_FloorOp : MG_Unary<"floor"> {
  let summary = "largest integer that is not larger";
  let body = "floor(x)";
  let vjp = ["d_y * 0"];
  let reference = "numpy.floor(x)";
}
def MG_CeilOp : MG_Unary<"ceil"> {
  let summary = "smallest integer that is not smaller";
  let body = "ceil(x)";
  let vjp = ["d_y * 0"];
  let reference = "numpy.ceil(x)";
}
def MG_TruncateOp : MG_Unary<"truncate"> {
  let summary = "nearest integer toward zero";
  let body = "trunc(x)";
  let vjp = ["d_y * 0"];
  let reference = "numpy.trunc(x)";
}
def MG_RoundNearestEvenOp : MG_Unary<"round_nearest_even"> {
  let summary = "nearest integer, halves to the even one";
  let body = "roundeven(x)";
  let vjp = ["d_y * 0"];
  let reference = "numpy.rint(x)";
}

//===-- Comparison and choice

def MG_CompareOp : MG_Op<"compare", [MG_Elementwise, MG_SecondOperand]> {
  let summary = "comparison; any comparison with NaN but `ne` is false";
  let arguments = (ins MG_ComparisonAttr:$comparison, MG_Number:$a, Optional<MG_Number>:$b, OptionalAttr<F64Attr>:$by);
  let results = (outs MG_Bool:$y);
  let index = "...,...->...";
  let element = "i1";
  let body = "Custom";
  let noGradient = "a comparison has no derivative";
  let reference = "a < b";
  let example = "mg.compare lt, %a, %b";
  let sample = "a: ?x3xf64, b: ?x3xf64";
  let assemblyFormat = "$comparison `,` $a (`,` $b^)? (`by` $by^)? attr-dict custom<BinaryTypes>(ref($b), type($a), type($b), type($y))";
}
def MG_SelectOp : MG_Op<"select", [MG_Elementwise]> {
  let summary = "a where the condition holds, else b";
  let description = [{
    The operand that is not chosen gets a gradient of exactly 0, and what produced it is differentiated only where it was chosen,
    so that an infinite or undefined derivative of the other branch cannot leak in as NaN.
  }];
  let arguments = (ins MG_Bool:$condition, MG_Number:$a, MG_Number:$b);
  let results = (outs MG_Number:$y);
  let index = "...,...,...->...";
  let element = "a";
  let body = "select(condition, a, b)";
  let vjp = ["none", "select(condition, d_y, 0)", "select(condition, 0, d_y)"];
  let linear = "a,b";
  let reference = "numpy.where(condition, a, b)";
  let example = "mg.select %condition, %a, %b";
  let sample = "condition: ?x3xi1, a: ?x3xf64, b: ?x3xf64";
  let hasFolder = 1;
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict custom<Types>(type($condition), type($a), type($b), type($y))";
}

//===-- Logic and bits

class MG_Logic<string mnemonic> : MG_Op<mnemonic, [MG_Elementwise]> {
  let arguments = (ins MG_Int:$a, MG_Int:$b);
  let results = (outs MG_Int:$y);
  let index = "...,...->...";
  let element = "a";
  let noGradient = "integers and truth values have no derivative";
  let example = "mg." # mnemonic # " %a, %b";
  let sample = "a: ?x3xi1, b: ?x3xi1";
  let assemblyFormat = "$a `,` $b attr-dict custom<Types>(type($a), type($b), type($y))";
}
def MG_AndOp : MG_Logic<"and"> {
  let summary = "and, bit by bit";
  let body = "a & b";
  let reference = "a & b";
}
def MG_OrOp : MG_Logic<"or"> {
  let summary = "or, bit by bit";
  let body = "a | b";
  let reference = "a | b";
}
def MG_XorOp : MG_Logic<"xor"> {
  let summary = "exclusive or, bit by bit";
  let body = "a ^ b";
  let reference = "a ^ b";
}
def MG_NotOp : MG_Unary<"not", MG_Bool> {
  let summary = "negation of a truth value";
  let body = "x ^ 1";
  let noGradient = "truth values have no derivative";
  let reference = "~x";
  let sample = "x: ?x3xi1";
}

//===-- Types

def MG_CastOp : MG_Op<"cast", [MG_Elementwise]> {
  let summary = "conversion to another element type, StableHLO's convert";
  let description = [{
    Float to integer truncates toward zero and saturates; NaN becomes 0. To `i1`: whether it is not 0. `ui8` and the like are unsigned.
  }];
  let arguments = (ins MG_Number:$x, TypeAttr:$to);
  let results = (outs MG_Number:$y);
  let index = "...->...";
  let element = "$to";
  let body = "Custom";
  let vjp = ["cast_back(d_y, x)"];
  let linear = "x";
  let reference = "x.astype(to)";
  let example = "mg.cast %x to f32";
  let sample = "x: ?x3xui8";
  let hasFolder = 1;
  let assemblyFormat = "$x `to` $to attr-dict custom<Types>(type($x), type($y))";
}

//===-- Activations (composites)

class MG_Activation<string mnemonic> : MG_Unary<mnemonic>;
def MG_ReluOp : MG_Activation<"relu"> {
  let summary = "max(x, 0); its derivative at 0 is 0, NaN stays NaN";
  let body = "max(x, 0)";
  let vjp = ["select(y > 0, d_y, 0)"];
  let reference = "numpy.maximum(x, 0)";
}
def MG_GeluOp : MG_Activation<"gelu"> {
  let summary = "x·Φ(x), exact, by erf";
  let source = "Hendrycks and Gimpel, 2016, arXiv:1606.08415";
  let decompose = ["x * 0.5 * (1 + erf(x * 0.7071067811865476))"];
  let reference = "x * 0.5 * (1 + erf(x / numpy.sqrt(2)))";
}
def MG_GeluTanhOp : MG_Activation<"gelu_tanh"> {
  let summary = "the tanh approximation of gelu";
  let source = "Hendrycks and Gimpel, 2016, arXiv:1606.08415";
  let decompose = ["x * 0.5 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"];
  let reference = "x * 0.5 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))";
}
def MG_SiluOp : MG_Activation<"silu"> {
  let summary = "x·sigmoid(x)";
  let source = "Elfwing, Uchibe and Doya, 2017, arXiv:1702.03118";
  let decompose = ["x * sigmoid(x)"];
  let reference = "x / (1 + numpy.exp(-x))";
}

#endif
