// dot_general: shape, maps and derivative for any batch, free and contracted
// dimensions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

namespace mlir::mg {
namespace {

/// Dimensions of one operand that are neither batch nor contracted, in order.
SmallVector<int64_t> freeDims(Value x, ArrayRef<int64_t> batch,
                              ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < tensorOf(x).getRank(); ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      dims.push_back(dim);
  return dims;
}

LogicalResult checkDims(std::optional<Location> loc, Value x,
                        ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                        StringRef side) {
  SmallVector<int64_t> all(batch);
  all.append(contract.begin(), contract.end());
  for (auto [i, dim] : llvm::enumerate(all)) {
    if (dim < 0 || dim >= tensorOf(x).getRank())
      return emitOptionalError(loc, "'mg.dot_general' op dimension ", dim,
                               " of the ", side, " operand is outside 0 … ",
                               tensorOf(x).getRank() - 1);
    if (llvm::is_contained(ArrayRef<int64_t>(all).drop_front(i + 1), dim))
      return emitOptionalError(loc, "'mg.dot_general' op names dimension ", dim,
                               " of the ", side, " operand twice");
  }
  return success();
}

LogicalResult checkPairs(std::optional<Location> loc, Value a, Value b,
                         ArrayRef<int64_t> dimsA, ArrayRef<int64_t> dimsB,
                         StringRef what) {
  if (dimsA.size() != dimsB.size())
    return emitOptionalError(loc, "'mg.dot_general' op has ", dimsA.size(), " ",
                             what, " dimensions on the left and ", dimsB.size(),
                             " on the right");
  for (auto [x, y] : llvm::zip(dimsA, dimsB))
    if (tensorOf(a).getDimSize(x) != tensorOf(b).getDimSize(y))
      return emitOptionalError(loc, "'mg.dot_general' op ", what, " dimension ",
                               x, " of the left operand is ",
                               tensorOf(a).getDimSize(x), " but dimension ", y,
                               " of the right operand is ",
                               tensorOf(b).getDimSize(y));
  return success();
}

} // namespace

LogicalResult inferShape(DotGeneralOp::Adaptor op, std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  Value a = op.getA(), b = op.getB();
  if (failed(checkDims(loc, a, op.getBatchA(), op.getContractA(), "left")) ||
      failed(checkDims(loc, b, op.getBatchB(), op.getContractB(), "right")) ||
      failed(checkPairs(loc, a, b, op.getBatchA(), op.getBatchB(), "batch")) ||
      failed(checkPairs(loc, a, b, op.getContractA(), op.getContractB(),
                        "contracted")))
    return failure();
  for (int64_t dim : op.getBatchA())
    shape.push_back(tensorOf(a).getDimSize(dim));
  for (int64_t dim : freeDims(a, op.getBatchA(), op.getContractA()))
    shape.push_back(tensorOf(a).getDimSize(dim));
  for (int64_t dim : freeDims(b, op.getBatchB(), op.getContractB()))
    shape.push_back(tensorOf(b).getDimSize(dim));
  return success();
}

IndexSpec customIndex(DotGeneralOp op) {
  IndexSpec spec;
  Value a = op.getA(), b = op.getB();
  SmallVector<unsigned> mapA(tensorOf(a).getRank()),
      mapB(tensorOf(b).getRank()), mapY;
  auto add = [&](char name, LetterKind kind, int64_t extent) {
    spec.letters.push_back(name);
    spec.kinds.push_back(kind);
    spec.extents.push_back(extent);
    if (kind == LetterKind::Parallel)
      mapY.push_back(spec.letters.size() - 1);
    return spec.letters.size() - 1;
  };
  for (auto [x, y] : llvm::zip(op.getBatchA(), op.getBatchB()))
    mapA[x] = mapB[y] =
        add('b', LetterKind::Parallel, tensorOf(a).getDimSize(x));
  for (int64_t dim : freeDims(a, op.getBatchA(), op.getContractA()))
    mapA[dim] = add('m', LetterKind::Parallel, tensorOf(a).getDimSize(dim));
  for (int64_t dim : freeDims(b, op.getBatchB(), op.getContractB()))
    mapB[dim] = add('n', LetterKind::Parallel, tensorOf(b).getDimSize(dim));
  for (auto [x, y] : llvm::zip(op.getContractA(), op.getContractB()))
    mapA[x] = mapB[y] = add('k', LetterKind::Sum, tensorOf(a).getDimSize(x));
  for (ArrayRef<unsigned> map :
       {ArrayRef<unsigned>(mapA), ArrayRef<unsigned>(mapB)})
    spec.operands.push_back(AffineMap::getMultiDimMapWithTargets(
        spec.letters.size(), map, op.getContext()));
  spec.results.push_back(AffineMap::getMultiDimMapWithTargets(
      spec.letters.size(), mapY, op.getContext()));
  return spec;
}

/// dA = dY ·(over B's free) B, with dimensions brought back to A's order; dB
/// likewise, as (A's free) dY.
static Value operandGradient(DotGeneralOp op, RuleBuilder &b, Value dy,
                             bool left) {
  Value own = left ? op.getA() : op.getB(),
        other = left ? op.getB() : op.getA();
  ArrayRef<int64_t> ownBatch = left ? op.getBatchA() : op.getBatchB(),
                    otherBatch = left ? op.getBatchB() : op.getBatchA();
  ArrayRef<int64_t> ownContract = left ? op.getContractA() : op.getContractB(),
                    otherContract =
                        left ? op.getContractB() : op.getContractA();
  SmallVector<int64_t> ownFree = freeDims(own, ownBatch, ownContract),
                       otherFree = freeDims(other, otherBatch, otherContract);
  int64_t batch = ownBatch.size(),
          freeA = left ? ownFree.size() : otherFree.size();
  SmallVector<int64_t> yBatch, yOther;
  for (int64_t i = 0; i < batch; ++i)
    yBatch.push_back(i);
  for (size_t i = 0; i < otherFree.size(); ++i)
    yOther.push_back(batch + (left ? freeA : 0) + i);
  // The result's dimensions: batch, then own free and own contracted, in the
  // order in which the two operands stand.
  SmallVector<int64_t> resultDims(ownBatch);
  SmallVector<std::pair<int64_t, int64_t>>
      contracted; // (position in other, own dimension), in other's order
  for (auto [x, y] : llvm::zip(otherContract, ownContract))
    contracted.emplace_back(x, y);
  llvm::sort(contracted);
  auto appendContracted = [&] {
    for (auto [x, y] : contracted)
      resultDims.push_back(y);
  };
  if (!left)
    appendContracted();
  resultDims.append(ownFree.begin(), ownFree.end());
  if (left)
    appendContracted();
  auto dot = [&](Value p, Value q, ArrayRef<int64_t> bp, ArrayRef<int64_t> bq,
                 ArrayRef<int64_t> cp, ArrayRef<int64_t> cq) {
    return b.op("mg.dot_general", {Term(p), Term(q)},
                {b.attribute("batch_a", b.attribute(bp)),
                 b.attribute("batch_b", b.attribute(bq)),
                 b.attribute("contract_a", b.attribute(cp)),
                 b.attribute("contract_b", b.attribute(cq))});
  };
  Term d = left ? dot(dy, other, yBatch, otherBatch, yOther, otherFree)
                : dot(other, dy, otherBatch, yBatch, otherFree, yOther);
  SmallVector<int64_t> permutation(resultDims.size());
  for (auto [position, dim] : llvm::enumerate(resultDims))
    permutation[dim] = position;
  if (llvm::is_sorted(permutation))
    return d.value;
  return b
      .op("mg.transpose", {d},
          {b.attribute("permutation", b.attribute(permutation))})
      .value;
}

void customVjp(DotGeneralOp op, RuleBuilder &b, ValueRange gradients,
               SmallVectorImpl<Value> &operandGradients) {
  operandGradients.push_back(operandGradient(op, b, gradients[0], true));
  operandGradients.push_back(operandGradient(op, b, gradients[0], false));
}

} // namespace mlir::mg
