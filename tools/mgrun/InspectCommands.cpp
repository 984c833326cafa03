// mgrun info and mgrun bench: what a bundle holds, and how fast it steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/mgrun/Commands.h"

#include <cstdio>

namespace mgrun {
namespace {

void printAndFree(char *text) {
  printOutput(text);
  mg_free(text);
}

class InfoCommand : public Command {
public:
  explicit InfoCommand(CLI::App &command) {
    command.add_option("bundle", bundle, "The compiled model (.mgb)")
        ->required();
    command.add_flag("--json", json, "Print one JSON object");
  }

  mg_code run() override {
    char *text = nullptr;
    MGRUN_TRY(mg_info(bundle.c_str(), json, &text));
    printAndFree(text);
    return MG_OK;
  }

private:
  std::string bundle;
  bool json = false;
};

class BenchCommand : public Command {
public:
  explicit BenchCommand(CLI::App &command) {
    mg_bench_options_init(&options);
    options.start_time_ns = startTimeNs;
    session.add(command);
    addNumber(command, "--steps", options.steps, 1,
              "Steps to time, after a warm-up (default 200)");
    addNumber(command, "--global-batch", options.global_batch, 1,
              "Rows a step (default: devices x the bundle's unit)");
    command
        .add_option("--objective", objective,
                    "The mg.train to run, if the model has several")
        ->type_name("NAME");
  }

  mg_code run() override {
    options.objective = orNull(objective);
    OpenSession opened;
    MGRUN_TRY(opened.open(session));
    char *text = nullptr;
    MGRUN_TRY(mg_bench(opened.get(), &options, &text));
    printAndFree(text);
    return MG_OK;
  }

private:
  SessionArguments session;
  mg_bench_options options;
  std::string objective;
};

} // namespace

std::unique_ptr<Command> addInfo(CLI::App &command) {
  return std::make_unique<InfoCommand>(command);
}
std::unique_ptr<Command> addBench(CLI::App &command) {
  return std::make_unique<BenchCommand>(command);
}

} // namespace mgrun
