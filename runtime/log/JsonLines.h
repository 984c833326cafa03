// The facts of a run as JSON lines, one object a line, flushed line by line so
// that a reader can follow. Every object has "event"; the keys of each are
// listed at its function. A number that is not finite is null.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/log/Facts.h"

#include <cstdio>
#include <memory>

namespace mg {

class JsonLines {
public:
  /// Creates or empties the file. Errors: Io.
  static Expected<std::unique_ptr<JsonLines>> open(const std::string &path);

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
  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  JsonLines(FILE *opened, std::string name)
      : file(opened), path(std::move(name)) {}
  void write(const char *text);

  std::unique_ptr<FILE, Close> file;
  std::string path;
  int error = 0; // the first errno of a write
};

} // namespace mg
