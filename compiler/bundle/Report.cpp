// What a scheduled module holds, as text for people: `mgc --stats` and `mgc
// --explain-comm`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bundle/Bundle.h"
#include "compiler/bundle/Locations.h"
#include "dialects/mgrt/Mgrt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mgrt;
using llvm::formatv;

static void printState(StateOp state, llvm::raw_ostream &stream) {
  llvm::MapVector<ArrayRole, std::pair<int64_t, int64_t>> byRole;
  for (auto array : state.getBody().getOps<ArrayOp>()) {
    auto &[count, bytes] = byRole[array.getRole()];
    ++count;
    bytes += array.getByteSize();
  }
  stream << "state: " << state.getBytes() << " bytes\n";
  for (auto &[role, sums] : byRole)
    stream << formatv("  {0,-17} {1,5} arrays {2,12} bytes\n",
                      stringifyArrayRole(role), sums.first, sums.second);
}

static void printEntry(EntryOp entry, llvm::raw_ostream &stream) {
  auto count = [&](auto ops) { return std::distance(ops.begin(), ops.end()); };
  int64_t reducedBytes = 0;
  for (auto reduce : entry.getBody().getOps<AllReduceOp>())
    reducedBytes += reduce.getRange().getBytes();
  stream << formatv("entry @{0}: {1} launches, {2} collectives of {3} bytes, "
                    "{4} copies, {5} fills",
                    entry.getSymName(),
                    count(entry.getBody().getOps<LaunchOp>()),
                    count(entry.getBody().getOps<AllReduceOp>()), reducedBytes,
                    count(entry.getBody().getOps<CopyOp>()),
                    count(entry.getBody().getOps<FillOp>()));
  if (!entry.getArenaBytes())
    return void(stream << ", arena not packed\n");
  uint64_t live = entry.getLiveBytes().value_or(0);
  double ratio = live ? double(*entry.getArenaBytes()) / double(live) : 1.0;
  stream << formatv(", arena of {0} bytes ({1:f3} times the live bytes)\n",
                    *entry.getArenaBytes(), ratio);
}

void mg::printStats(ModuleOp module, llvm::raw_ostream &stream) {
  if (StateOp state = StateOp::find(module))
    printState(state, stream);
  uint64_t arenaBytes = 0;
  for (auto entry : module.getOps<EntryOp>()) {
    printEntry(entry, stream);
    arenaBytes = std::max(arenaBytes, entry.getArenaBytes().value_or(0));
  }
  stream << "arena: " << arenaBytes << " bytes, the largest of all entries\n";
}

static std::string dtypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static void explain(AllReduceOp reduce, llvm::raw_ostream &stream) {
  stream << formatv("  all_reduce {0} {1}, {2} bytes",
                    stringifyReduction(reduce.getReduction()),
                    dtypeName(reduce.getDtype()), reduce.getRange().getBytes());
  if (StringAttr name = reduce.getRange().getName())
    stream << ": " << name.getValue();
  stream << '\n';
  if (ArrayAttr causes = reduce.getCauseAttr())
    for (auto cause : causes.getAsRange<StringAttr>())
      stream << "    because " << cause.getValue() << '\n';
  for (const std::string &position : mg::filePositions(reduce.getLoc()))
    stream << "    at " << position << '\n';
}

void mg::explainCollectives(ModuleOp module, llvm::raw_ostream &stream) {
  int64_t count = 0;
  for (auto entry : module.getOps<EntryOp>()) {
    auto reductions = entry.getBody().getOps<AllReduceOp>();
    if (reductions.empty())
      continue;
    stream << "entry @" << entry.getSymName() << '\n';
    for (AllReduceOp reduce : reductions) {
      explain(reduce, stream);
      ++count;
    }
  }
  stream << "collectives: " << count << '\n';
}
