// What the command line says, before anything is opened: values as typed, and
// their conversion to mg.h's options. Anything that is wrong with the text
// alone is a CLI::ParseError: usage, exit code 2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/mg.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mgrun {

/// NAME=FILE… as mg.h wants it; keeps the strings alive.
class DataFiles {
public:
  void add(CLI::App &command, const std::string &option,
           const std::string &help);
  /// Splits the texts; valid as long as this object.
  const std::vector<mg_data> &parse();
  bool given() const { return !texts.empty(); }

private:
  std::string option;
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> parts;
  std::vector<mg_data> data;
};

/// Bundle, devices and threads: what every command that opens a session takes.
struct SessionArguments {
  std::string bundle;
  std::string devices; // a number, "all" or empty
  std::vector<int> deviceIds;
  std::string device = "auto";
  int threads = 0;
  bool deterministic = false;
  int64_t unit = 0;

  void add(CLI::App &command);
  mg_open_options options() const;
};

struct ReportArguments {
  std::string progress = "auto";
  std::string json;
  int64_t jsonStepInterval = 0;

  void add(CLI::App &command);
  mg_report report(bool cpuAskedFor) const;
};

struct ScalarValue {
  std::string name;
  double value;
};
/// NAME=VALUE of --set.
ScalarValue parseScalar(const std::string &text);

/// "full", "none" or a number of rows.
void parseShuffle(const std::string &text, mg_train_options &options);
/// A number of rows, or a fraction between 0 and 1 (told by its point).
void parseSplit(const std::string &text, mg_train_options &options);

/// nullptr for an empty string: mg.h's way to say "not given".
inline const char *orNull(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}

} // namespace mgrun
