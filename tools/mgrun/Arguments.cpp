// Conversions of the command line's texts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/mgrun/Arguments.h"

#include "runtime/base/WriteAll.h"

#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace mgrun {
namespace {

[[noreturn]] void usage(const std::string &text) {
  throw CLI::ValidationError(text);
}

std::pair<std::string, std::string>
split(const std::string &option, const std::string &text, const char *form) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    usage(option + ": expected " + form + ", found '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The first errno of writing to standard output.
int outputError = 0;

void print(void *, mg_stream stream, const char *text) {
  if (stream == MG_WARNING)
    std::fputs(text, stderr);
  else
    printOutput(text);
}

} // namespace

void printOutput(const char *text) {
  if (outputError == 0) // else nobody reads it: the work goes on
    outputError = mg::writeAll(STDOUT_FILENO, text);
}

int standardOutputError() { return outputError; }

void DataFiles::add(CLI::App &command, const std::string &name,
                    const std::string &help) {
  option = name;
  command.add_option(name, texts, help)->type_name("NAME=FILE");
}

const std::vector<mg_data> &DataFiles::parse() {
  parts.clear();
  data.clear();
  for (const std::string &text : texts)
    parts.push_back(split(option, text, "NAME=FILE"));
  for (const auto &[name, path] : parts)
    data.push_back({name.c_str(), path.c_str(), {}, nullptr});
  return data;
}

void SessionArguments::add(CLI::App &command) {
  command.add_option("bundle", bundle, "The compiled model (.mgb)")->required();
  command
      .add_option("--devices", devices,
                  "Logical devices to use, or 'all' (default; one CPU)")
      ->type_name("N|all");
  command
      .add_option("--device-ids", deviceIds,
                  "Use these logical devices, e.g. 0,2")
      ->delimiter(',');
  command.add_option("--device", device, "Kind of device")
      ->check(CLI::IsMember({"auto", "cpu"}))
      ->capture_default_str();
  addNumber(command, "--threads", threads, 0,
            "Worker threads over all devices; 0, the default: the cores there "
            "are");
  command.add_flag("--deterministic", deterministic,
                   "The same bits on any number of devices and threads");
  addNumber(command, "--unit", unit, 1,
            "Rows of a unit, one of the bundle's sizes (default: what needs "
            "the fewest passes; the smallest if deterministic)")
      ->type_name("B");
}

mg_open_options SessionArguments::options() const {
  mg_open_options options;
  mg_open_options_init(&options);
  options.threads = threads;
  options.deterministic = deterministic;
  options.unit_rows = unit;
  int count = deviceIds.empty() ? 1 : static_cast<int>(deviceIds.size());
  if (!devices.empty() && devices != "all") {
    if (!parseNumber(devices, count) || count < 1)
      usage("--devices: expected a number of at least 1 or 'all', found '" +
            devices + "'");
    if (!deviceIds.empty() && count != static_cast<int>(deviceIds.size()))
      usage("--devices is " + devices + ", but --device-ids lists " +
            std::to_string(deviceIds.size()));
  }
  options.devices = count;
  options.device_ids = deviceIds.empty() ? nullptr : deviceIds.data();
  return options;
}

void ReportArguments::add(CLI::App &command) {
  command
      .add_option(
          "--progress", progress,
          "auto: a live line on a terminal; line: a line an epoch; none")
      ->check(CLI::IsMember({"auto", "line", "none"}))
      ->capture_default_str();
  command.add_option("--json", json, "Write the same facts as JSON lines")
      ->type_name("FILE");
}

mg_report ReportArguments::report(bool cpuAskedFor) const {
  mg_report report = {};
  report.print = print;
  report.progress = MG_PROGRESS_LINE;
  if (progress == "none")
    report.progress = MG_PROGRESS_NONE;
  else if (progress == "auto" && isatty(STDOUT_FILENO))
    report.progress = MG_PROGRESS_TERMINAL;
  report.json = orNull(json);
  report.json_step_interval = jsonStepInterval;
  report.cpu_asked_for = cpuAskedFor;
  return report;
}

ScalarValue parseScalar(const std::string &text) {
  const auto [name, number] = split("--set", text, "NAME=VALUE");
  ScalarValue scalar{name, 0};
  if (!parseNumber(number, scalar.value) || !std::isfinite(scalar.value))
    usage("--set: expected a number for " + name + ", found '" + number + "'");
  return scalar;
}

void parseShuffle(const std::string &text, mg_train_options &options) {
  if (text == "full" || text == "none") {
    options.shuffle = text == "full" ? MG_SHUFFLE_FULL : MG_SHUFFLE_NONE;
    return;
  }
  options.shuffle = MG_SHUFFLE_WINDOW;
  if (!parseNumber(text, options.shuffle_window) || options.shuffle_window < 1)
    usage("--shuffle: expected full, none or a number of rows, found '" + text +
          "'");
}

void parseSplit(const std::string &text, mg_train_options &options) {
  if (text.empty())
    return;
  if (parseNumber(text, options.validation_rows) && options.validation_rows > 0)
    return;
  options.validation_rows = 0;
  double &fraction = options.validation_fraction;
  if (!parseNumber(text, fraction) || !(fraction > 0 && fraction < 1))
    usage("--validation-split: expected a number of rows or a fraction between "
          "0 and 1, found '" +
          text + "'");
}

} // namespace mgrun
