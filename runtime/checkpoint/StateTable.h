// The named arrays of a session that a checkpoint holds: variables
// ("hidden1.kernel") and optimizer slots
// ("m/hidden1.kernel"; "fit/m/hidden1.kernel" in a bundle with several trains).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"

#include <string>
#include <string_view>
#include <vector>

namespace mg {

struct StateEntry {
  std::string name;
  const schema::Array *array; // owned by the bundle
  int train;                  // the slot's train, -1 for a variable

  bool isSlot() const { return train >= 0; }
};

/// Variables, then slots, in the bundle's order.
std::vector<StateEntry> stateTable(const schema::Bundle &tables);

/// nullptr when there is none of that name.
const StateEntry *findState(const std::vector<StateEntry> &table,
                            std::string_view name);

/// A scalar of an optimizer, of device 0; written to every device.
double readScalar(Session &session, const schema::Scalar &scalar);
void writeScalar(Session &session, const schema::Scalar &scalar, double value);

/// Looks for a state array whose bytes differ between device 0 and another.
/// Returns an error that names the array, the device, the first element and the
/// step; must not run during a step. Errors: Internal.
Status checkReplicas(Session &session);

} // namespace mg
