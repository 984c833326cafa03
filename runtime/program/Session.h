// A bundle opened on N devices: memory, initial state, and running its entries.
// What to run when (epochs, batches, files) is runtime/train's; how a launch is
// executed is runtime/device's. Start at Session::open.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/schema/bundle_generated.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mg {

struct SessionOptions {
  std::vector<int>
      deviceIds; // logical CPU devices to use, e.g. {0, 1}; not empty
  int threads =
      0; // workers over all devices; 0: the cores this process may use
  bool deterministic = false; // the same bits on any device count (R7)
  uint32_t unitRows = 0; // the unit size to use; 0: the smallest there is if
                         // deterministic, else as each run finds best
};

/// A verified bundle file, mapped read-only. Owns the mapping; tables() points
/// into it.
class Bundle {
public:
  virtual ~Bundle() = default;
  virtual const schema::Bundle &tables() const = 0;
  virtual std::span<const std::byte> blob(const schema::Blob &blob) const = 0;
  virtual uint64_t fileBytes() const = 0;

  /// Reads and checks everything FORMAT.md lists. Errors: Io, BadInput (one
  /// line: file, what, found, expected).
  static Expected<std::unique_ptr<Bundle>> open(const std::string &path);
};

/// The rows of one unit as one device sees them: `rows[i]` points at the bytes
/// of input i (Train.inputs order), already padded to the unit's size by copies
/// of a real row.
struct Unit {
  int64_t row0 = 0; // row, in the global window, of the unit's first row
  int64_t rows = 0; // valid rows, 1 … unitRows
};

/// What a failed check found: the lowest bad row of the window over all
/// devices.
struct CheckFailure {
  int check;     // index into Train.checks / Predict.checks
  int64_t row;   // in the global window
  int64_t value; // as found
};

/// Fills the staging buffers of device `device` for its k-th unit of the
/// window. `destination[i]` is where input i's unit rows go (array bytes as in
/// Input). Called on a worker thread; must not throw. Returns the unit's row0
/// and rows.
class UnitSource {
public:
  virtual ~UnitSource() = default;
  /// Units that device `device` has in this window (may be 0).
  virtual int unitCount(int device) const = 0;
  virtual Unit fill(int device, int k,
                    std::span<std::byte *const> destination) = 0;
};

class Session {
public:
  virtual ~Session() = default;

  /// Allocates every device's regions and loads the code that fits this CPU.
  /// State is zero until init() or a write through state(), except run-time
  /// scalars, which hold their defaults. Errors: InvalidArgument, OutOfMemory,
  /// Unsupported, BadInput (the code image), Io.
  static Expected<std::unique_ptr<Session>> open(std::shared_ptr<Bundle> bundle,
                                                 const SessionOptions &options);

  virtual const Bundle &bundle() const = 0;
  virtual int deviceCount() const = 0;
  virtual int workerCount() const = 0;
  /// Whether sums over units are added in one tree on any device count.
  virtual bool isDeterministic() const = 0;
  /// The unit sizes that a run may choose from, ascending.
  virtual std::span<const uint32_t> unitSizes() const = 0;

  /// Runs the Init entry on every device with this seed: variables, slots, step
  /// = 0. All devices get equal state.
  virtual Status init(uint64_t seed) = 0;

  /// One training step of train `train` with units of `unitRows` rows: every
  /// device accumulates its units, then update. A bad row (see CheckFailure)
  /// leaves the state of every device untouched and returns it; otherwise
  /// nullopt-like check = -1.
  virtual Expected<CheckFailure> step(int train, uint32_t unitRows,
                                      UnitSource &source) = 0;

  /// Adds the units of one evaluation window to the evaluation sums of each
  /// device.
  virtual Expected<CheckFailure> evaluate(int train, uint32_t unitRows,
                                          UnitSource &source) = 0;

  /// Runs predict `predict` on one window. After each unit sink.take(device, k,
  /// unit, outputs) sees its output rows: on a worker thread, one call at a
  /// time, devices in no fixed order; the rows are gone when it returns.
  class OutputSink {
  public:
    virtual ~OutputSink() = default;
    virtual void take(int device, int k, Unit unit,
                      std::span<const std::byte *const> outputs) = 0;
  };
  virtual Expected<CheckFailure> predict(int predict, uint32_t unitRows,
                                         UnitSource &source,
                                         OutputSink &sink) = 0;

  /// Fills train's epoch (or evaluation) sums with 0 on every device.
  virtual void clearEpoch(int train) = 0;
  virtual void clearEvaluation(int train) = 0;

  /// Σ w·x and Σ w of metric `metric`: of the last step, of the epoch so far,
  /// of the evaluation so far (all devices).
  struct Sums {
    double weighted = 0, weight = 0;
    double mean() const { return weight == 0 ? 0 : weighted / weight; }
  };
  virtual Sums stepSums(int train, int metric) const = 0;
  virtual Sums epochSums(int train, int metric) const = 0;
  virtual void setEpochSums(int train, int metric, Sums sums) = 0;
  virtual Sums evaluationSums(int train, int metric) const = 0;

  /// The bytes of an array of the state region on one device; valid until the
  /// session ends. Not while a step runs.
  virtual std::span<std::byte> state(int device,
                                     const schema::Array &array) = 0;
  /// Step count and seed as the devices hold them (device 0's).
  virtual int64_t stepCount() const = 0;
  virtual void setStepCount(int64_t step) = 0;
  virtual uint64_t seed() const = 0;
  virtual void setSeed(uint64_t seed) = 0;

  virtual DeviceTimes times(int device) const = 0;
  virtual void resetTimes() = 0;
};

} // namespace mg
