// Losses: what their records cannot say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mg/Rules.h"

namespace mlir::mg {

LogicalResult inferShape(MeanSquaredErrorOp::Adaptor op,
                         std::optional<Location> loc,
                         SmallVectorImpl<int64_t> &shape) {
  RankedTensorType prediction = tensorOf(op.getPrediction()),
                   target = tensorOf(op.getTarget());
  if (prediction.getShape() != target.getShape())
    return emitOptionalError(loc, "'mg.mean_squared_error' op prediction is ",
                             prediction, " but target is ", target);
  if (prediction.getRank() == 0)
    return emitOptionalError(
        loc,
        "'mg.mean_squared_error' op needs a batch dimension, found rank 0");
  shape.push_back(prediction.getDimSize(0));
  return success();
}
IndexSpec customIndex(MeanSquaredErrorOp op) {
  RankedTensorType type = tensorOf(op.getPrediction());
  IndexSpec spec;
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    spec.letters.push_back('.');
    spec.kinds.push_back(i == 0 ? LetterKind::Parallel : LetterKind::Opaque);
    spec.extents.push_back(extent);
  }
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext());
  spec.operands.assign(2, identity);
  spec.results.push_back(identity.getMajorSubMap(1));
  return spec;
}

} // namespace mlir::mg
