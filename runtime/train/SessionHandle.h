// What stands behind mg.h's mg_session, and how errors cross the C interface.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/StateTable.h"
#include "runtime/log/Facts.h"
#include "runtime/mg.h"

#include <atomic>

struct mg_session {
  std::string bundlePath, statePath; // as opened; as last loaded, or empty
  std::unique_ptr<mg::Session> session;
  std::vector<mg::StateEntry> state;
  mg::Position position;
  std::vector<mg::MetricValue> metrics; // as last measured
  std::atomic<bool> stop{false};

  const mg::schema::Bundle &tables() const {
    return session->bundle().tables();
  }
};

namespace mg {

/// Keeps the message for mg_last_error and returns the code.
mg_code report(const Error &error);
mg_code report(const Status &status);

/// The options of a call that may be older or newer than this library: fields
/// past the caller's `size` are defaults, which `init` sets.
template <typename Options>
Options completed(const Options *given, void (*init)(Options *)) {
  Options options;
  init(&options);
  if (given)
    __builtin_memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

/// The index of the train (predict) called `name`; with NULL the only one.
/// Errors: InvalidArgument, listing them.
Expected<int> findTrain(const schema::Bundle &tables, const char *name);
Expected<int> findPredict(const schema::Bundle &tables, const char *name);

} // namespace mg
