// Random ops: Philox4x32-10 at one point, and dropout's mask.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

namespace mlir::mg {

/// One letter a dimension of the result; rows are independent if the first is
/// the row.
static IndexSpec randomNest(Operation *op, ArrayRef<int64_t> shape, bool rows) {
  IndexSpec spec;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    spec.letters.push_back('.');
    spec.kinds.push_back(i == 0 && rows ? LetterKind::Parallel
                                        : LetterKind::Opaque);
    spec.extents.push_back(extent);
  }
  spec.operands.assign(3, AffineMap::get(shape.size(), 0, op->getContext()));
  spec.results.push_back(
      AffineMap::getMultiDimIdentityMap(shape.size(), op->getContext()));
  return spec;
}

LogicalResult inferShape(RandomBitsOp::Adaptor op, std::optional<Location>,
                         SmallVectorImpl<int64_t> &shape) {
  llvm::append_range(shape, op.getShape());
  return success();
}
IndexSpec customIndex(RandomBitsOp op) {
  return randomNest(op, op.getShape(), op.getRows());
}
LogicalResult inferShape(KeepMaskOp::Adaptor op, std::optional<Location>,
                         SmallVectorImpl<int64_t> &shape) {
  llvm::append_range(shape, op.getShape());
  return success();
}
IndexSpec customIndex(KeepMaskOp op) {
  return randomNest(op, op.getShape(), /*rows=*/true);
}

namespace {

/// The ten rounds on i32 words, products in i64.
class Philox {
public:
  Philox(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  std::array<Value, 4> run(std::array<Value, 4> counter,
                           std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      auto [high0, low0] = product(0xD2511F53u, counter[0]);
      auto [high1, low1] = product(0xCD9E8D57u, counter[2]);
      counter = {exclusiveOr(exclusiveOr(high1, counter[1]), key[0]), low1,
                 exclusiveOr(exclusiveOr(high0, counter[3]), key[1]), low0};
      key = {add(key[0], word(0x9E3779B9u)), add(key[1], word(0xBB67AE85u))};
    }
    return counter;
  }
  Value word(uint32_t n) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr((int32_t)n));
  }
  Value low(Value x) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), x);
  }
  Value high(Value x) {
    return low(arith::ShRUIOp::create(builder, loc, x, wide(32)));
  }
  Value wide(int64_t n) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(n));
  }

private:
  std::pair<Value, Value> product(uint32_t factor, Value x) {
    Value wideX = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), x);
    Value p = arith::MulIOp::create(builder, loc, wideX, wide(factor));
    return {high(p), low(p)};
  }
  Value exclusiveOr(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

void customBody(RandomBitsOp op, ScalarBuilder &b, ValueRange operands,
                SmallVectorImpl<Value> &results) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  Philox philox(builder, loc);
  Value row = op.getRows() ? Value(arith::AddIOp::create(
                                 builder, loc, operands[2], b.positionOf(0)))
                           : philox.wide(0);
  Value element = philox.wide(0);
  for (unsigned dim = op.getRows() ? 1 : 0; dim < op.getShape().size(); ++dim) {
    element = arith::MulIOp::create(builder, loc, element,
                                    philox.wide(op.getShape()[dim]));
    element = arith::AddIOp::create(builder, loc, element, b.positionOf(dim));
  }
  Value block = arith::ShRUIOp::create(builder, loc, element, philox.wide(2));
  std::array<Value, 4> words =
      philox.run({philox.low(block), philox.low(row), philox.low(operands[1]),
                  philox.word(op.getKey())},
                 {philox.low(operands[0]), philox.high(operands[0])});
  Value which = arith::AndIOp::create(builder, loc, element, philox.wide(3));
  Value chosen = words[3];
  for (int word = 2; word >= 0; --word)
    chosen =
        b.select(b.eq(which, philox.wide(word)), words[word], chosen).value;
  results.push_back(chosen);
}

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (rate >= 0 && rate <= 1)
    return success();
  return emitOpError() << "has rate " << shortNumber(rate)
                       << ", expected a probability: 0 … 1";
}

LogicalResult customDecompose(KeepMaskOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  Term bits = b.op("mg.random_bits",
                   {Term(op.getSeed()), Term(op.getStep()), Term(op.getRow0())},
                   {b.attribute("key", op.getKeyAttr()),
                    b.attribute("shape", op.getShapeAttr()),
                    b.attribute("rows", b.getBuilder().getBoolAttr(true))});
  // The bits are signless: as i64 without sign extension they compare as
  // unsigned.
  Term word = b.bitAnd(b.cast_like(bits, "i64"), Term(4294967295.0));
  double keep = 1 - op.getRate().convertToDouble();
  results.push_back(b.lt(word, Term(std::floor(keep * 4294967296.0))).value);
  return success();
}

/// x / (1 - rate) where the mask holds, else 0.
LogicalResult customDecompose(DropoutOp op, RuleBuilder &b,
                              SmallVectorImpl<Value> &results) {
  double keep = 1 - op.getRate().convertToDouble();
  if (keep >= 1 || keep <= 0) {
    results.push_back(
        keep >= 1
            ? op.getX()
            : b.like(b.number(0), Term(op.getX()), Term(op.getX())).value);
    return success();
  }
  auto control = [&](Control which) {
    return b.op(
        "mg.control", {},
        {b.attribute("which", ControlAttr::get(op.getContext(), which))});
  };
  Term kept = b.op(
      "mg.keep_mask",
      {control(Control::seed), control(Control::step), control(Control::row0)},
      {b.attribute("rate", op.getRateAttr()),
       b.attribute("key", op.getKeyAttr()
                              ? op.getKeyAttr()
                              : b.getBuilder().getI32IntegerAttr(0)),
       b.attribute("shape", b.shape(Term(op.getX())))});
  results.push_back(
      b.select(kept, b.mul(Term(op.getX()), Term(1 / keep)), b.number(0))
          .value);
  return success();
}

} // namespace mlir::mg
