// Prints a run in Keras' manner and writes the same facts as JSON lines. Text
// goes to a Printer, so that a library's caller decides where it ends up.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/log/GpuProbe.h"
#include "runtime/log/JsonLines.h"

#include <chrono>
#include <functional>

namespace mg {

enum class Stream { Output, Warning };

/// Gets pieces of text with their own line ends. Warnings are whole lines that
/// begin with "warning: ".
using Printer = std::function<void(Stream, std::string_view)>;

enum class Progress {
  None,     // the test and devices lines only
  Line,     // and one line an epoch (Keras' verbose=2)
  Terminal, // and a line that is rewritten in place while an epoch runs
};

class Report {
public:
  Report(Printer printer, Progress mode, std::unique_ptr<JsonLines> jsonLines,
         int64_t jsonStepInterval = 0)
      : print(std::move(printer)), progress(mode), json(std::move(jsonLines)),
        jsonEvery(jsonStepInterval) {}

  /// "Detected 0 GPUs", "Using 2 devices (cpu)", and why the CPU is used where
  /// nobody asked for it.
  void machine(const GpuProbe &gpus, int devices, bool cpuWasAskedFor);
  void start(const StartFacts &facts);
  void epochBegins(int64_t epoch, int64_t epochs);

  /// Whether step() has use for StepFacts::metrics, for progress: reading sums
  /// costs a little.
  bool wantsStepMetrics(int64_t step) const {
    return json && jsonEvery > 0 && step % jsonEvery == 0;
  }
  bool wantsProgress() const;
  void step(const StepFacts &facts);

  void epochEnds(const EpochFacts &facts);
  /// Takes a half-written progress line off the terminal.
  void clearProgress();
  void test(const TestFacts &facts);
  void devices(const DeviceFacts &facts);
  void line(std::string_view text);
  void warning(std::string_view text);
  /// Whether the JSON lines are written. Errors: Io.
  Status finish() { return json ? json->finish() : Status(); }

private:
  using Clock = std::chrono::steady_clock;

  Printer print;
  Progress progress;
  std::unique_ptr<JsonLines> json;
  int64_t jsonEvery;
  Clock::time_point lastProgress{};
  bool progressShown = false; // an unfinished line is on the terminal
};

/// "430/430 - 1s - loss: 0.3147 - accuracy: 0.9078"
std::string epochLine(const EpochFacts &facts);
/// "107/430 [=====>..............] 1234 steps/s, 3 s left, busy 93 % - loss:
/// 0.3147"
std::string progressLine(const ProgressFacts &facts);
/// "devices: busy 93 % 92 %, memory 31 MB each, waiting for data 1 %, for each
/// other 3 %"
std::string devicesLine(const DeviceFacts &facts);
/// What is worth a warning about it, or nothing: a device under 70 %, two over
/// 10 points apart. Runs under two seconds are mostly start-up and give none.
std::string devicesWarning(const DeviceFacts &facts);

} // namespace mg
