// Names of state and the comparison of its copies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/StateTable.h"
#include "runtime/data/ElementType.h"

#include <algorithm>
#include <cstring>

namespace mg {

std::vector<StateEntry> stateTable(const schema::Bundle &tables) {
  std::vector<StateEntry> table;
  for (const schema::Variable *variable : *tables.variables())
    table.push_back({variable->array()->name()->str(), variable->array(), -1});
  const bool severalTrains = tables.trains()->size() > 1;
  for (const schema::Slot *slot : *tables.slots()) {
    std::string name = slot->array()->name()->str();
    if (severalTrains)
      name = fmt::format(
          "{}/{}", tables.trains()->Get(slot->train())->name()->string_view(),
          name);
    table.push_back(
        {std::move(name), slot->array(), static_cast<int>(slot->train())});
  }
  return table;
}

const StateEntry *findState(const std::vector<StateEntry> &table,
                            std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(),
                   [&](const StateEntry &e) { return e.name == name; });
  return found == table.end() ? nullptr : &*found;
}

double readScalar(Session &session, const schema::Scalar &scalar) {
  const std::byte *from = session.state(0, *scalar.array()).data();
  if (scalar.array()->dtype() == schema::DType::F64) {
    double value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void writeScalar(Session &session, const schema::Scalar &scalar, double value) {
  const auto single = static_cast<float>(value);
  const bool isDouble = scalar.array()->dtype() == schema::DType::F64;
  for (int device = 0; device < session.deviceCount(); ++device) {
    std::byte *to = session.state(device, *scalar.array()).data();
    if (isDouble)
      std::memcpy(to, &value, sizeof value);
    else
      std::memcpy(to, &single, sizeof single);
  }
}

static Status checkReplica(Session &session, const StateEntry &entry,
                           int device) {
  const std::span<std::byte> expected = session.state(0, *entry.array);
  const std::span<std::byte> found = session.state(device, *entry.array);
  if (std::memcmp(expected.data(), found.data(), expected.size()) == 0)
    return {};
  const auto differs =
      std::mismatch(expected.begin(), expected.end(), found.begin()).first;
  const int64_t element =
      (differs - expected.begin()) / elementType(entry.array->dtype()).bytes;
  return failure(Code::Internal,
                 "{} differs between device 0 and device {} after step {}, "
                 "first at element {}",
                 entry.name, device, session.stepCount(), element);
}

Status checkReplicas(Session &session) {
  const std::vector<StateEntry> table = stateTable(session.bundle().tables());
  for (int device = 1; device < session.deviceCount(); ++device)
    for (const StateEntry &entry : table)
      MG_TRY(checkReplica(session, entry, device));
  return {};
}

} // namespace mg
