// Merges all-reduces of adjacent state (Passes.td: mg-bucket-all-reduces).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mg {
#define GEN_PASS_DEF_BUCKETALLREDUCES
#include "compiler/schedule/Passes.h.inc"
} // namespace mlir::mg

using namespace mlir;
using namespace mlir::mgrt;

static bool touches(Operation &op, RangeAttr range) {
  auto command = cast<CommandOpInterface>(op);
  auto meets = [&](RangeAttr other) { return other.overlaps(range); };
  return llvm::any_of(command.getReadRanges(), meets) ||
         llvm::any_of(command.getWrittenRanges(), meets);
}

/// Whether some command strictly between `first` and `second` touches `range`.
static bool isTouchedBetween(Operation *first, Operation *second,
                             RangeAttr range) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (touches(*op, range))
      return true;
  return false;
}

static bool areMergeable(AllReduceOp low, AllReduceOp high) {
  return low.getReduction() == high.getReduction() &&
         low.getDtype() == high.getDtype() &&
         static_cast<int64_t>(
             llvm::alignTo(low.getRange().getEnd(), kAlignment)) ==
             high.getRange().getOffset();
}

static ArrayAttr joinCauses(AllReduceOp a, AllReduceOp b) {
  llvm::SetVector<Attribute> causes;
  for (AllReduceOp op : {a, b})
    if (ArrayAttr list = op.getCauseAttr())
      causes.insert(list.begin(), list.end());
  if (causes.empty())
    return {};
  return ArrayAttr::get(a.getContext(), causes.getArrayRef());
}

/// "first .. last" of the arrays in a bucket.
static StringAttr joinNames(StringAttr low, StringAttr high) {
  if (!low || !high)
    return low ? low : high;
  StringRef first = low.getValue().split(" .. ").first;
  return StringAttr::get(low.getContext(), first + " .. " + high.getValue());
}

/// The merged command, in the place of the one that the other can move to; null
/// if neither can move.
static AllReduceOp merge(AllReduceOp low, AllReduceOp high) {
  bool isLowFirst = low->isBeforeInBlock(high);
  AllReduceOp first = isLowFirst ? low : high;
  AllReduceOp second = isLowFirst ? high : low;
  AllReduceOp place;
  if (!isTouchedBetween(first, second, second.getRange()))
    place = first;
  else if (!isTouchedBetween(first, second, first.getRange()))
    place = second;
  else
    return {};
  OpBuilder builder(place);
  RangeAttr from = low.getRange(), to = high.getRange();
  auto range = RangeAttr::get(low.getContext(), from.getRegion(),
                              from.getOffset(), to.getEnd() - from.getOffset(),
                              joinNames(from.getName(), to.getName()));
  auto merged = AllReduceOp::create(
      builder, builder.getFusedLoc({low.getLoc(), high.getLoc()}),
      low.getReduction(), low.getDtype(), range,
      joinNames(low.getLabelAttr(), high.getLabelAttr()),
      joinCauses(low, high));
  low.erase();
  high.erase();
  return merged;
}

namespace {
struct BucketAllReduces : mg::impl::BucketAllReducesBase<BucketAllReduces> {
  using BucketAllReducesBase::BucketAllReducesBase;

  void runOnOperation() override {
    SmallVector<AllReduceOp> reductions;
    for (auto op : getOperation().getBody().getOps<AllReduceOp>())
      if (op.getRange().getRegion() == mgrt::Region::State)
        reductions.push_back(op);
    llvm::sort(reductions, [](AllReduceOp a, AllReduceOp b) {
      return a.getRange().getOffset() < b.getRange().getOffset();
    });
    AllReduceOp bucket;
    for (AllReduceOp next : reductions) {
      AllReduceOp merged;
      if (bucket && areMergeable(bucket, next) && isSmallEnough(bucket, next))
        merged = merge(bucket, next);
      bucket = merged ? merged : next;
    }
  }

  bool isSmallEnough(AllReduceOp bucket, AllReduceOp next) {
    return maxBytes == 0 ||
           next.getRange().getEnd() - bucket.getRange().getOffset() <= maxBytes;
  }
};
} // namespace
