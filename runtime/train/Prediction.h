// Runs a predict function over rows and writes what it gives, one row for each,
// in the order of the data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/program/Session.h"

#include <atomic>

namespace mg {

/// `paths` holds a .npy path for each output of the predict function; an empty
/// one is not written. Errors: BadData, Interrupted (no file is written), Io,
/// and those of Session::predict.
Status predictRows(Session &session, int predict, DataView rows,
                   std::span<const std::string> paths,
                   const std::atomic<bool> &stop);

} // namespace mg
