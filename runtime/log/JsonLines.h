// The facts of a run as JSON lines, one object a line, each line one write so
// that a reader can follow. Every object has "event"; the keys of each are
// listed at its function. A number that is not finite is null.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/log/Facts.h"

#include <memory>

namespace mg {

class JsonLines {
public:
  /// Creates or empties the file. Errors: Io.
  static Expected<std::unique_ptr<JsonLines>> open(const std::string &path);
  JsonLines(const JsonLines &) = delete;
  JsonLines &operator=(const JsonLines &) = delete;
  ~JsonLines();

  /// event "start": gpus, devices, device ("cpu"), threads, rows,
  /// validation_rows, global_batch, unit, steps_per_epoch, seed
  void start(const StartFacts &facts);
  /// event "step": step, and each metric of that step by its name
  void step(const StepFacts &facts);
  /// event "epoch": epoch, epochs, steps, steps_per_epoch, seconds, and each
  /// metric by its name
  void epoch(const EpochFacts &facts);
  /// event "test": rows, and each metric by its name
  void test(const TestFacts &facts);
  /// event "devices": seconds, busy, waiting_for_data, waiting_for_devices
  /// (shares), memory_bytes; lists, one entry a device
  void devices(const DeviceFacts &facts);

  /// Whether all of it was written. Errors: Io (disk full).
  Status finish();

private:
  JsonLines(int opened, std::string name)
      : descriptor(opened), path(std::move(name)) {}
  void write(std::string line);

  int descriptor;
  std::string path;
  int error = 0; // the first errno of a write
};

} // namespace mg
