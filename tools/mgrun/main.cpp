// mgrun: trains, evaluates and runs a compiled model. Only the command line is
// here; all else is libmg's, through mg.h. Exit codes: 0; 1 with one "error:"
// line; 2 usage; 128 + signal when stopped by one, 141 when nobody read the
// output to its end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/WriteAll.h"
#include "tools/mgrun/Commands.h"
#include "tools/mgrun/Signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <new>
#include <sstream>
#include <unistd.h>

namespace mgrun {

int64_t startTimeNs = 0;

OpenSession::~OpenSession() {
  setSignalSession(nullptr);
  mg_close(session);
}

mg_code OpenSession::open(const SessionArguments &arguments) {
  const mg_open_options options = arguments.options();
  MGRUN_TRY(mg_open(arguments.bundle.c_str(), &options, &session));
  setSignalSession(session);
  return MG_OK;
}

static std::string oneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

static int exitCode(mg_code code) {
  const int output = standardOutputError();
  if (code == MG_OK && output == 0)
    return 0;
  if (code == MG_OK && output == EPIPE)
    return 128 + SIGPIPE; // as if it had ended there, but the work is done
  const std::string text = code == MG_OK
                               ? std::string("cannot write standard output: ") +
                                     std::strerror(output)
                               : oneLine(mg_last_error());
  const bool stopped = code == MG_INTERRUPTED && signalExitCode() != 0;
  std::fprintf(stderr, "%s: %s\n", stopped ? "interrupted" : "error",
               text.c_str());
  return stopped ? signalExitCode() : 1;
}

/// CLI11 would take the next argument for the value.
static void refuseEmptyValues(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      throw CLI::ValidationError(std::string(argument) +
                                 ": expected a value behind '='");
  }
}

static int run(int argc, char **argv) {
  CLI::App app("Trains, evaluates and runs a compiled model (.mgb).", "mgrun");
  app.require_subcommand(1);
  app.set_version_flag("--version", mg_version(),
                       "Version, and the bundle format that it reads");
  app.option_defaults()->take_last(); // scripts pass on what a person adds
  struct Entry {
    const char *name, *help;
    std::unique_ptr<Command> (*add)(CLI::App &);
    std::unique_ptr<Command> command;
  };
  Entry entries[] = {
      {"train", "Train the model", addTrain, nullptr},
      {"evaluate", "Measure a saved state on test data", addEvaluate, nullptr},
      {"predict", "Write the model's output for each row", addPredict, nullptr},
      {"info", "Show what is in a bundle", addInfo, nullptr},
      {"bench", "Time training steps on made-up data", addBench, nullptr}};
  for (Entry &entry : entries)
    entry.command = entry.add(*app.add_subcommand(entry.name, entry.help));
  try {
    refuseEmptyValues(argc, argv);
    app.parse(argc, argv);
    for (Entry &entry : entries)
      if (app.got_subcommand(entry.name))
        return exitCode(entry.command->run());
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) { // --help, --version
      std::ostringstream text;
      app.exit(error, text);
      printOutput(text.str().c_str());
      return exitCode(MG_OK);
    }
    std::fprintf(stderr, "error: %s (mgrun --help shows the usage)\n",
                 oneLine(error.what()).c_str());
  }
  return 2;
}

/// The first file to be opened would get the number of a stream that is closed,
/// and what is printed. A folder in its place cannot be written either.
static void occupyStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/", O_RDONLY | O_DIRECTORY);
}

/// std::bad_alloc ends here from any thread: nothing between catches it.
[[noreturn]] static void endWithoutMemory() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::bad_alloc &) {
    mg_remove_unfinished();
    mg::writeAll(STDERR_FILENO, "error: out of memory\n");
    _exit(1);
  } catch (...) {
  }
  std::abort();
}

} // namespace mgrun

int main(int argc, char **argv) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  mgrun::startTimeNs = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  mgrun::occupyStandardStreams();
  std::set_terminate(mgrun::endWithoutMemory);
  mgrun::installSignalHandlers();
  return mgrun::run(argc, argv);
}
