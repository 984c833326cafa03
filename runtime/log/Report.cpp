// The texts. Figures are as Keras prints them: four decimals, or a power of ten
// below 0.001.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/log/Report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace mg {
namespace {

std::string figure(double value) {
  return value != 0 && std::abs(value) < 1e-3 ? fmt::format("{:.4e}", value)
                                              : fmt::format("{:.4f}", value);
}

std::string metricsText(const std::vector<MetricValue> &metrics) {
  std::string text;
  for (const MetricValue &metric : metrics)
    text += fmt::format(" - {}: {}", metric.name, figure(metric.value));
  return text;
}

double meanOf(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// "3 s", "2:05 min", "1:02 h".
std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 60)
    return fmt::format("{} s", whole);
  const int64_t unit = whole < 3600 ? 60 : 3600;
  return fmt::format("{}:{:02} {}", whole / unit, whole % unit * 60 / unit,
                     unit == 60 ? "min" : "h");
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.0f} MB",
                     std::max(1.0, static_cast<double>(bytes) / 1e6));
}

std::string memoryText(const std::vector<uint64_t> &bytes) {
  const bool equal = std::all_of(bytes.begin(), bytes.end(),
                                 [&](uint64_t b) { return b == bytes[0]; });
  if (equal)
    return fmt::format(" {} each", megabytes(bytes.empty() ? 0 : bytes[0]));
  std::string text;
  for (uint64_t b : bytes)
    text += " " + megabytes(b);
  return text;
}

std::string whyCpu(const GpuProbe &gpus) {
  if (gpus.visible > 0)
    return fmt::format("this build runs on the CPU only: the {} GPUs of this "
                       "machine stay unused",
                       gpus.visible);
  if (gpus.onBus > 0)
    return fmt::format(
        "{} NVIDIA GPUs are on the PCI bus, but no driver is visible: running "
        "on the CPU; install the "
        "driver, or start the container with `docker run --gpus all`",
        gpus.onBus);
  return "no GPU found: running on the CPU (--device=cpu says that this is "
         "meant)";
}

} // namespace

std::string epochLine(const EpochFacts &facts) {
  return fmt::format("{}/{} - {:.0f}s{}", facts.steps, facts.stepsPerEpoch,
                     facts.seconds, metricsText(facts.metrics));
}

std::string progressLine(const ProgressFacts &facts) {
  constexpr int width = 20;
  const auto done = static_cast<size_t>(facts.inEpoch * width /
                                        std::max<int64_t>(facts.ofEpoch, 1));
  std::string bar(done, '=');
  if (done < width)
    bar += '>' + std::string(width - done - 1, '.');
  const double rate =
      facts.seconds > 0 ? static_cast<double>(facts.steps) / facts.seconds : 0;
  std::string left;
  if (rate > 0)
    left = fmt::format(
        ", {} left",
        duration(static_cast<double>(facts.ofEpoch - facts.inEpoch) / rate));
  return fmt::format("{}/{} [{}] {:.{}f} steps/s{}, busy {:.0f} %{}",
                     facts.inEpoch, facts.ofEpoch, bar, rate, rate < 10 ? 1 : 0,
                     left, facts.busy * 100, metricsText(facts.metrics));
}

std::string devicesLine(const DeviceFacts &facts) {
  std::string busy;
  for (double share : facts.busy)
    busy += fmt::format(" {:.0f} %", share * 100);
  return fmt::format("devices: busy{}, memory{}, waiting for data {:.0f} %, "
                     "for each other {:.0f} %",
                     busy, memoryText(facts.memoryBytes),
                     meanOf(facts.waitingForData) * 100,
                     meanOf(facts.waitingForDevices) * 100);
}

std::string devicesWarning(const DeviceFacts &facts) {
  if (facts.seconds < 2 || facts.busy.empty())
    return "";
  const auto [least, most] =
      std::minmax_element(facts.busy.begin(), facts.busy.end());
  const auto device = least - facts.busy.begin();
  if (*most - *least > 0.10)
    return fmt::format("device {} is busy {:.0f} % and device {} {:.0f} %: the "
                       "work is uneven, choose --global-batch "
                       "as a multiple of devices x unit",
                       device, *least * 100, most - facts.busy.begin(),
                       *most * 100);
  if (*least < 0.70 * facts.possible)
    return fmt::format("device {} is busy only {:.0f} %: fewer devices or a "
                       "larger batch would use them better",
                       device, *least * 100);
  return "";
}

void Report::line(std::string_view text) {
  print(Stream::Output, fmt::format("{}\n", text));
}

void Report::warning(std::string_view text) {
  print(Stream::Warning, fmt::format("warning: {}\n", text));
}

void Report::machine(const GpuProbe &gpus, int devices, bool cpuWasAskedFor) {
  if (progress != Progress::None) {
    line(fmt::format("Detected {} GPUs", gpus.visible));
    line(fmt::format("Using {} device{} (cpu)", devices,
                     devices == 1 ? "" : "s"));
  }
  if (!cpuWasAskedFor)
    warning(whyCpu(gpus));
}

void Report::start(const StartFacts &facts) {
  if (json)
    json->start(facts);
}

void Report::epochBegins(int64_t epoch, int64_t epochs) {
  if (progress != Progress::None)
    line(fmt::format("Epoch {}/{}", epoch, epochs));
}

bool Report::wantsProgress() const {
  return progress == Progress::Terminal &&
         Clock::now() - lastProgress > std::chrono::milliseconds(100);
}

void Report::step(const StepFacts &facts) {
  if (!facts.metrics.empty() && json)
    json->step(facts);
  if (!facts.progress)
    return;
  lastProgress = Clock::now();
  progressShown = true;
  print(Stream::Output, "\r\x1b[K" + progressLine(*facts.progress));
}

void Report::epochEnds(const EpochFacts &facts) {
  if (json)
    json->epoch(facts);
  clearProgress();
  if (progress != Progress::None)
    line(epochLine(facts));
}

void Report::clearProgress() {
  if (progressShown)
    print(Stream::Output, "\r\x1b[K");
  progressShown = false;
}

void Report::test(const TestFacts &facts) {
  if (json)
    json->test(facts);
  for (const MetricValue &metric : facts.metrics)
    line(fmt::format("Test {}: {}", metric.name, figure(metric.value)));
}

void Report::devices(const DeviceFacts &facts) {
  if (json)
    json->devices(facts);
  line(devicesLine(facts));
  if (const std::string text = devicesWarning(facts); !text.empty())
    warning(text);
}

} // namespace mg
