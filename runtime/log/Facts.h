// What a run tells: the facts behind the printed lines and the JSON lines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mg {

/// A metric's mean over rows; "loss" first, then those of the model, in its
/// order.
struct MetricValue {
  std::string name;
  double value;
};

struct StartFacts {
  int gpus = 0, devices = 1, threads = 1;
  int64_t rows = 0, validationRows = 0;
  int64_t globalBatch = 0, unitRows = 0, stepsPerEpoch = 0;
  uint64_t seed = 0;
};

/// How far an epoch is, for a terminal.
struct ProgressFacts {
  int64_t inEpoch = 0, ofEpoch = 0; // steps done and steps in this epoch
  int64_t steps = 0;                // of them in this process, in
  double seconds = 0;               // so much time
  double busy = 0;                  // share of it, the devices' mean, 0 … 1
  std::vector<MetricValue> metrics; // of the epoch so far
};

struct StepFacts {
  int64_t step = 0; // the state's step count after it
  std::vector<MetricValue>
      metrics; // of this step alone; only filled where someone asked for it
  std::optional<ProgressFacts> progress; // only filled for a terminal
};

struct EpochFacts {
  int64_t epoch = 1, epochs = 1; // from 1
  int64_t steps = 0, stepsPerEpoch = 0;
  double seconds = 0;
  std::vector<MetricValue>
      metrics; // validation metrics behind the others, as "val_loss" …
};

struct TestFacts {
  int64_t rows = 0;
  std::vector<MetricValue> metrics;
};

/// Shares of the run's time, 0 … 1, one entry a device.
struct DeviceFacts {
  double seconds = 0;
  std::vector<double> busy, waitingForData, waitingForDevices;
  std::vector<uint64_t> memoryBytes;
  /// The largest share that a device can be busy: below 1 where several take
  /// turns on one worker.
  double possible = 1;
};

} // namespace mg
