// Saves a session's state to a safetensors file and loads it, on any device
// count: device 0's copy is written, every device is loaded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"

namespace mg {

/// Where training goes on: rows [0, row) of epoch `epoch` have been seen.
struct Position {
  int64_t epoch = 0; // from 0
  int64_t row = 0;   // in the epoch's order
};

/// Writes variables and slots, and as metadata step, seed, epoch and row, the
/// optimizers' scalars and the sums of the epoch so far. Errors: Io.
Status saveCheckpoint(Session &session, const std::string &path,
                      Position position);

enum class LoadScope {
  Variables, // to evaluate or predict: slots are left alone
  All,       // to train on: variables, slots, step, seed
  Resume,    // to go on with the run: scalars and sums of the epoch too
};

struct LoadedCheckpoint {
  Position position;
  bool hasSlots = true; // false: the file holds weights only; slots, step and
                        // position stay as they are
};

/// Loads into every device; changes nothing on error. Errors: as
/// SafetensorsFile::open; BadInput for a variable that is missing, unknown, or
/// of another type or shape (names it, found and expected), or when only some
/// slots are there.
Expected<LoadedCheckpoint>
loadCheckpoint(Session &session, const std::string &path, LoadScope scope);

} // namespace mg
