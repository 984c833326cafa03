// Symbolic execution of a packed command list. Uses no lifetimes on purpose: it
// must not share their mistakes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/schedule/VerifyPacking.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mgrt;

namespace {

class Memory {
public:
  explicit Memory(ArrayRef<int64_t> offsets) : offsets(offsets) {}

  LogicalResult run(CommandOpInterface command) {
    for (RangeAttr range : command.getReadRanges())
      if (failed(read(command, range)))
        return failure();
    for (RangeAttr written : command.getWrittenRanges())
      for (RangeAttr range : command.getReadRanges())
        if (overlap(range, written))
          return command->emitError("packing puts what the command reads and "
                                    "what it writes in the same bytes: ")
                 << range << " and " << written;
    for (RangeAttr range : command.getWrittenRanges())
      if (failed(write(command, range)))
        return failure();
    return success();
  }

private:
  static bool isTemporary(RangeAttr range) {
    return range.getRegion() == mgrt::Region::Temporary;
  }

  /// Whether two different temporaries share a byte.
  bool overlap(RangeAttr a, RangeAttr b) const {
    if (!isTemporary(a) || !isTemporary(b) || a.getOffset() == b.getOffset())
      return false;
    int64_t beginA = offsets[a.getOffset()], beginB = offsets[b.getOffset()];
    return beginA < beginB + b.getBytes() && beginB < beginA + a.getBytes();
  }

  LogicalResult read(Operation *command, RangeAttr range) {
    if (!isTemporary(range))
      return success();
    auto it = contents.find(range.getOffset());
    if (it == contents.end())
      return command->emitError("reads temporary ")
             << range << " before it is written";
    if (it->second.damagedBy)
      return command->emitError("packing puts ")
             << it->second.damagedBy << " on temporary " << range
             << ", which is read here";
    return success();
  }

  LogicalResult write(Operation *command, RangeAttr range) {
    if (!isTemporary(range))
      return success();
    for (auto &[id, content] : contents) {
      if (!overlap(content.range, range))
        continue;
      if (content.writer == command)
        return command->emitError("packing puts two results in the same "
                                  "bytes: ")
               << content.range << " and " << range;
      content.damagedBy = range;
    }
    contents[range.getOffset()] = {range, command, {}};
    return success();
  }

  struct Content {
    RangeAttr range;
    Operation *writer = nullptr;
    RangeAttr damagedBy;
  };
  ArrayRef<int64_t> offsets;
  llvm::MapVector<int64_t, Content> contents; // by temporary
};

} // namespace

LogicalResult mg::verifyPacking(EntryOp entry, ArrayRef<int64_t> offsets) {
  Memory memory(offsets);
  for (Operation &op : entry.getBody().getOps())
    if (failed(memory.run(cast<CommandOpInterface>(op))))
      return failure();
  return success();
}
