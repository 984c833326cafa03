// Measures a train's loss and metrics over rows, each exactly once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/log/Facts.h"
#include "runtime/program/Session.h"

#include <atomic>

namespace mg {

/// The means of a train's metrics over `rows`, each name with `prefix` in
/// front. Errors: BadData, Interrupted (`stop` was set; at most one window is
/// finished first), and those of Session::evaluate.
Expected<std::vector<MetricValue>> evaluateRows(Session &session, int train,
                                                DataView rows,
                                                std::string_view prefix,
                                                const std::atomic<bool> &stop);

/// How rows are dealt where only throughput counts (evaluation, prediction):
/// windows of a few of the largest units a device, so that a stop request is
/// soon seen and memory for rows in flight stays small.
struct Dealing inferenceDealing(const Session &session, int64_t rows);

} // namespace mg
