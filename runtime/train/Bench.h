// Times training steps on made-up data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"

namespace mg {

struct BenchPlan {
  int train = 0;
  int64_t steps = 200, warmup = 10;
  int64_t globalBatch = 0;
  int64_t startTimeNs =
      0; // CLOCK_MONOTONIC, from which the first step is timed
};

struct BenchResult {
  double stepMicrosMedian = 0, stepMicrosMin = 0; // microseconds
  double startToFirstStepMillis = 0;              // milliseconds
};

/// Inputs that a check guards get its valid values in turn, floats get uniform
/// numbers in [0, 1), other integers 0.
Expected<BenchResult> bench(Session &session, const BenchPlan &plan);

/// One line of JSON with the result and the sizes of session and process.
std::string benchJson(const Session &session, const BenchResult &result);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t monotonicNs();

} // namespace mg
