// The training loop: epochs, windows, validation, replica checks. What a step
// computes is the session's; what is printed is Report's; files are opened
// before and saved after.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/DataSet.h"
#include "runtime/log/Report.h"
#include "runtime/train/Dealing.h"
#include "runtime/train/Shuffle.h"

#include <atomic>

namespace mg {

struct TrainPlan {
  int train = 0; // index into Bundle.trains
  DataView training;
  DataView validation;     // may be empty
  int64_t epochs = 5;      // 0: as many as `steps` takes
  int64_t steps = 0;       // 0: no limit
  int64_t globalBatch = 0; // 0: devices × the largest unit
  Shuffle shuffle;
  int64_t checkReplicas = 0; // every so many steps; 0: never
  Position start;
  bool resume = false; // `epochs` counts those before `start`, whose epoch's
                       // sums are in the state
  std::function<void(int64_t step, std::span<const double> metrics)>
      onStep; // may be empty
};

/// How a step's rows are dealt over a session's devices. `globalBatch` 0:
/// devices × the largest unit.
/// Errors: InvalidArgument when a deterministic session's devices do not get
/// subtrees of the units (names the device counts that do).
Expected<Dealing> trainDealing(const Session &session, int64_t globalBatch);

struct TrainOutcome {
  bool interrupted = false;
  int64_t steps = 0;                // of this run
  Position position;                // where the next run goes on
  std::vector<MetricValue> metrics; // of the last epoch, validation's behind
};

class TrainLoop {
public:
  /// `dealing` is trainDealing's; `stop` ends the loop after the step it is in.
  TrainLoop(Session &session, const TrainPlan &plan, const Dealing &dealing,
            Report &report, const std::atomic<bool> &stop);

  /// Errors: BadData (state untouched by that step), Internal (replicas
  /// differ), and those of Session::step.
  Expected<TrainOutcome> run();

private:
  Status runEpoch();
  Status runWindow(class Gather &gather, int64_t first);
  Status validate(std::vector<MetricValue> &metrics);
  void reportStep(int64_t first);
  ProgressFacts progress(int64_t first) const;
  bool limitReached() const {
    return plan.steps > 0 && outcome.steps >= plan.steps;
  }
  int64_t lastEpoch() const;
  std::vector<MetricValue> means(Session::Sums (Session::*sums)(int, int)
                                     const) const;

  Session &session;
  const TrainPlan &plan;
  Report &report;
  const std::atomic<bool> &stop;
  const schema::Train &table;
  const Dealing dealing;
  Position start;
  std::vector<int64_t> order;
  TrainOutcome outcome;
  std::chrono::steady_clock::time_point epochBegin;
  int64_t epochBeginSteps = 0; // outcome.steps at that time
  double epochBeginBusy = 0;   // seconds, the devices' mean
};

} // namespace mg
