// Checks entries: who owns them, that the set is complete, and each command.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/collective/AllReduce.h"
#include "runtime/program/Checks.h"
#include "runtime/program/Verify.h"
#include "runtime/schema/DType.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace mg {
namespace {

class EntryVerifier {
public:
  explicit EntryVerifier(const schema::Bundle &tables) : tables(tables) {}

  Status verify() {
    MG_TRY(each(tables.entries(), "entry",
                [&](auto *entry) { return checkEntry(*entry); }));
    return checkComplete();
  }

private:
  using Key = std::tuple<schema::Role, int, uint32_t>;

  Status checkEntry(const schema::Entry &entry) {
    if (entry.role() > schema::Role::MAX)
      return failure(Code::BadInput, "role {} does not exist",
                     static_cast<int>(entry.role()));
    return in(checkKnownEntry(entry), "{}", schema::EnumNameRole(entry.role()));
  }

  Status checkKnownEntry(const schema::Entry &entry) {
    MG_TRY(checkOwner(entry));
    bool hasUnit = entry.role() != schema::Role::Init &&
                   entry.role() != schema::Role::Update;
    bool known = std::find(tables.units()->begin(), tables.units()->end(),
                           entry.unit()) != tables.units()->end();
    if (hasUnit ? !known : entry.unit() != 0)
      return failure(Code::BadInput, "unit {} is not {}", entry.unit(),
                     hasUnit ? "a listed unit size" : "0");
    if (!keys.insert({entry.role(), entry.owner(), entry.unit()}).second)
      return failure(Code::BadInput, "a second entry for owner {} and unit {}",
                     entry.owner(), entry.unit());
    return each(entry.commands(), "command", [&](auto *command) {
      return checkCommand(entry.role(), *command);
    });
  }

  Status checkOwner(const schema::Entry &entry) {
    if (entry.role() == schema::Role::Init) {
      if (entry.owner() != -1)
        return failure(Code::BadInput, "owner {}, expected -1", entry.owner());
      return {};
    }
    bool predicts = entry.role() == schema::Role::Predict;
    return checkIndex(entry.owner(),
                      predicts ? tables.predicts()->size()
                               : tables.trains()->size(),
                      predicts ? "predict" : "train");
  }

  /// Only Update runs at the same point on every device: elsewhere a collective
  /// could wait for ever.
  Status checkCommand(schema::Role role, const schema::Command &command) {
    MG_TRY(checkLocation(tables, command.location()));
    switch (command.op_type()) {
    case schema::Op::Launch:
      return in(checkLaunch(*command.op_as_Launch()), "launch");
    case schema::Op::Collective:
      if (role != schema::Role::Update)
        return failure(Code::BadInput,
                       "a collective; only update entries may hold one");
      return in(checkCollective(*command.op_as_Collective()), "collective");
    case schema::Op::Copy:
      return in(checkCopy(*command.op_as_Copy()), "copy");
    case schema::Op::Fill:
      return in(checkWritableRange(tables, command.op_as_Fill()->to()), "fill");
    default:
      return failure(Code::BadInput, "operation {} does not exist",
                     static_cast<int>(command.op_type()));
    }
  }

  Status checkLaunch(const schema::Launch &launch) {
    MG_TRY(checkIndex(launch.kernel(), tables.kernels()->size(), "kernel"));
    MG_TRY(checkElementsAligned(launch.bindings(), "the bindings"));
    MG_TRY(checkElementsAligned(launch.scalars(), "the scalars"));
    return each(launch.bindings(), "binding",
                [&](auto *range) { return checkRange(tables, range); });
  }

  Status checkCollective(const schema::Collective &collective) {
    if (collective.kind() != schema::CollectiveKind::AllReduce ||
        collective.reduction() > schema::Reduction::MAX)
      return failure(Code::BadInput, "kind {} with reduction {} does not exist",
                     static_cast<int>(collective.kind()),
                     static_cast<int>(collective.reduction()));
    if (!canReduce(collective.dtype()))
      return failure(
          Code::BadInput,
          "dtype {} cannot be all-reduced, only F32, F64, I32 and I64 can",
          static_cast<int>(collective.dtype()));
    MG_TRY(checkWritableRange(tables, collective.range()));
    if (collective.range()->bytes() % schema::bytesOf(collective.dtype()) != 0)
      return failure(Code::BadInput, "{} bytes are not a whole number of {}",
                     collective.range()->bytes(),
                     schema::EnumNameDType(collective.dtype()));
    return {};
  }

  Status checkCopy(const schema::Copy &copy) {
    MG_TRY(in(checkRange(tables, copy.from()), "source"));
    MG_TRY(in(checkWritableRange(tables, copy.to()), "destination"));
    const schema::Range &from = *copy.from(), &to = *copy.to();
    if (from.bytes() != to.bytes())
      return failure(Code::BadInput, "{} bytes into {}", from.bytes(),
                     to.bytes());
    if (from.region() == to.region() &&
        from.offset() < to.offset() + to.bytes() &&
        to.offset() < from.offset() + from.bytes())
      return failure(Code::BadInput,
                     "source at {} and destination at {} overlap",
                     from.offset(), to.offset());
    return {};
  }

  /// Init and one Update a train must be there, and no unit can be begun that
  /// could not be continued.
  Status checkComplete() {
    if (!keys.contains({schema::Role::Init, -1, 0}))
      return failure(Code::BadInput, "there is no Init entry");
    for (int train = 0; train < static_cast<int>(tables.trains()->size());
         ++train)
      MG_TRY(in(checkTrainEntries(train), "train '{}'",
                tables.trains()
                    ->Get(static_cast<uint32_t>(train))
                    ->name()
                    ->string_view()));
    return {};
  }

  Status checkTrainEntries(int train) {
    if (!keys.contains({schema::Role::Update, train, 0}))
      return failure(Code::BadInput, "there is no Update entry");
    for (uint32_t unit : *tables.units())
      if (keys.contains({schema::Role::AccumulateFirst, train, unit}) !=
          keys.contains({schema::Role::Accumulate, train, unit}))
        return failure(Code::BadInput,
                       "unit {} has only one of the entries AccumulateFirst "
                       "and Accumulate",
                       unit);
    return {};
  }

  const schema::Bundle &tables;
  std::set<Key> keys;
};

} // namespace

Status verifyEntries(const schema::Bundle &tables) {
  return EntryVerifier(tables).verify();
}

} // namespace mg
