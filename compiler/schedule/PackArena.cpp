// Places temporaries in the arena (Passes.td: mg-pack-arena): lifetimes from
// the commands, then Packing.cpp, then VerifyPacking.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/Packing.h"
#include "compiler/schedule/Passes.h"
#include "compiler/schedule/VerifyPacking.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mg {
#define GEN_PASS_DEF_PACKARENA
#include "compiler/schedule/Passes.h.inc"
} // namespace mlir::mg

using namespace mlir;
using namespace mlir::mgrt;

namespace {

/// The temporaries of an entry. Those in `ranges[i]` is buffer i; `lastUses[i]`
/// is the last command that touches it.
struct Temporaries {
  SmallVector<mg::Buffer> buffers;
  SmallVector<RangeAttr> ranges;
  SmallVector<Operation *> lastUses;
  llvm::DenseMap<int64_t, unsigned> indices; // from the number in the text

  void touch(RangeAttr range, Operation *command, int64_t position) {
    if (range.getRegion() != mgrt::Region::Temporary)
      return;
    auto [it, isNew] = indices.try_emplace(range.getOffset(), buffers.size());
    if (isNew) {
      buffers.push_back({range.getBytes(), position, position});
      ranges.push_back(range);
      lastUses.push_back(command);
    }
    mg::Buffer &buffer = buffers[it->second];
    buffer.sizeBytes = std::max(buffer.sizeBytes, range.getBytes());
    buffer.last = position;
    lastUses[it->second] = command;
  }
};

Temporaries findTemporaries(EntryOp entry) {
  Temporaries result;
  int64_t position = 0;
  for (Operation &op : entry.getBody().getOps()) {
    auto command = cast<CommandOpInterface>(op);
    for (RangeAttr range : command.getReadRanges())
      result.touch(range, &op, position);
    for (RangeAttr range : command.getWrittenRanges())
      result.touch(range, &op, position);
    ++position;
  }
  return result;
}

struct PackArena : mg::impl::PackArenaBase<PackArena> {
  using PackArenaBase::PackArenaBase;

  void runOnOperation() override {
    EntryOp entry = getOperation();
    if (entry.getArenaBytes())
      return;
    Temporaries temporaries = findTemporaries(entry);
    renumber(entry, temporaries);
    mg::Packing packing = mg::packBuffers(temporaries.buffers, kAlignment,
                                          check ? kAlignment : 0);
    if (failed(mg::verifyPacking(entry, packing.offsets)))
      return signalPassFailure();
    int64_t live = mg::liveBytes(temporaries.buffers, kAlignment);
    if (check)
      addFills(entry, temporaries, packing.sizeBytes);
    place(entry, packing.offsets);
    entry.setArenaBytes(packing.sizeBytes);
    entry.setLiveBytes(live);
    if (report)
      reportSize(entry, packing.sizeBytes, live);
  }

  /// Calls `change` on each temporary range of the entry and stores what it
  /// returns.
  void replaceTemporaries(EntryOp entry,
                          function_ref<RangeAttr(RangeAttr)> change) {
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](RangeAttr range) -> std::optional<Attribute> {
      if (range.getRegion() != mgrt::Region::Temporary)
        return range;
      return change(range);
    });
    for (Operation &op : entry.getBody().getOps())
      replacer.replaceElementsIn(&op);
  }

  /// Numbers temporaries in order of first use, so that a number is an index.
  void renumber(EntryOp entry, const Temporaries &temporaries) {
    replaceTemporaries(entry, [&](RangeAttr range) {
      return RangeAttr::get(range.getContext(), range.getRegion(),
                            temporaries.indices.at(range.getOffset()),
                            range.getBytes(), range.getName());
    });
  }

  void place(EntryOp entry, ArrayRef<int64_t> offsets) {
    replaceTemporaries(entry, [&](RangeAttr range) {
      return RangeAttr::get(range.getContext(), mgrt::Region::Arena,
                            offsets[range.getOffset()], range.getBytes(),
                            range.getName());
    });
  }

  void addFills(EntryOp entry, const Temporaries &temporaries,
                int64_t arenaBytes) {
    OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
    constexpr int64_t notANumber = 0xff; // all bits set is NaN in every float
    auto arena = RangeAttr::get(builder.getContext(), mgrt::Region::Arena, 0,
                                arenaBytes, {});
    if (arenaBytes != 0)
      FillOp::create(builder, entry.getLoc(), arena, notANumber,
                     builder.getStringAttr("unwritten"));
    for (auto [index, range] : llvm::enumerate(temporaries.ranges)) {
      builder.setInsertionPointAfter(temporaries.lastUses[index]);
      auto dead = RangeAttr::get(builder.getContext(), range.getRegion(), index,
                                 range.getBytes(), range.getName());
      FillOp::create(builder, temporaries.lastUses[index]->getLoc(), dead,
                     notANumber, builder.getStringAttr("dead"));
    }
  }

  void reportSize(EntryOp entry, int64_t arenaBytes, int64_t live) {
    double ratio = live ? double(arenaBytes) / double(live) : 1.0;
    entry.emitRemark() << "arena of " << arenaBytes << " bytes, "
                       << llvm::formatv("{0:f3}", ratio).str()
                       << " times the live bytes";
  }
};

} // namespace
