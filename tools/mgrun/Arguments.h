// What the command line says, before anything is opened: values as typed, and
// their conversion to mg.h's options. Anything that is wrong with the text
// alone is a CLI::ParseError: usage, exit code 2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/mg.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace mgrun {

/// Writes to standard output. Once that fails, by a full disk or because nobody
/// reads any longer, nothing more is written and the work goes on.
void printOutput(const char *text);
/// errno of the first write that failed, or 0.
int standardOutputError();

/// The whole text as a number, or false.
template <typename T> bool parseNumber(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// An option that is a whole number from `least` up to the type's largest.
template <typename T>
CLI::Option *addNumber(CLI::App &command, const std::string &name, T &value,
                       std::type_identity_t<T> least, const std::string &help) {
  return command
      .add_option_function<std::string>(
          name,
          [name, &value, least](const std::string &text) {
            T number{};
            if (!parseNumber(text, number) || number < least)
              throw CLI::ValidationError(
                  name + ": expected a whole number from " +
                  std::to_string(least) + " to " +
                  std::to_string(std::numeric_limits<T>::max()) + ", found '" +
                  text + "'");
            value = number;
          },
          help)
      ->type_name("N");
}

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
