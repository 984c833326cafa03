// One class a subcommand: it declares its options and runs it. run() returns
// mg.h's code; MG_OK after help.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tools/mgrun/Arguments.h"

#include <memory>

namespace mgrun {

class Command {
public:
  virtual ~Command() = default;
  /// Usage errors are thrown as CLI::ParseError, all others are returned; their
  /// text is mg_last_error's.
  virtual mg_code run() = 0;
};

/// Each adds its subcommand to `app`; selected() of the returned app tells
/// which one was called.
std::unique_ptr<Command> addTrain(CLI::App &command);
std::unique_ptr<Command> addEvaluate(CLI::App &command);
std::unique_ptr<Command> addPredict(CLI::App &command);
std::unique_ptr<Command> addInfo(CLI::App &command);
std::unique_ptr<Command> addBench(CLI::App &command);

/// CLOCK_MONOTONIC in nanoseconds when the program began; main sets it.
extern int64_t startTimeNs;

/// An open session that signals can stop.
class OpenSession {
public:
  ~OpenSession();
  mg_code open(const SessionArguments &arguments);
  mg_session *get() const { return session; }

private:
  mg_session *session = nullptr;
};

} // namespace mgrun

/// Returns mg.h's code from the enclosing function unless it is MG_OK.
#define MGRUN_TRY(call)                                                        \
  if (const mg_code code = (call); code != MG_OK)                              \
  return code
