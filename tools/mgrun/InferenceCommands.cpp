// mgrun evaluate and mgrun predict: a saved state over data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/mgrun/Commands.h"

namespace mgrun {
namespace {

class EvaluateCommand : public Command {
public:
  explicit EvaluateCommand(CLI::App &command) {
    session.add(command);
    command.add_option("--load", load, "The state to evaluate")
        ->type_name("FILE")
        ->required();
    test.add(command, "--test", "The data: a file for each input");
    command.get_option("--test")->required();
    command
        .add_option(
            "--objective", objective,
            "The mg.train whose metrics to measure, if the model has several")
        ->type_name("NAME");
    report.add(command);
  }

  mg_code run() override {
    mg_evaluate_options options;
    mg_evaluate_options_init(&options);
    const std::vector<mg_data> &data = test.parse();
    options.objective = orNull(objective);
    options.data = data.data();
    options.data_count = data.size();
    options.report = report.report(session.device == "cpu");
    OpenSession opened;
    MGRUN_TRY(opened.open(session));
    MGRUN_TRY(mg_load(opened.get(), load.c_str(), 0, nullptr));
    return mg_evaluate(opened.get(), &options);
  }

private:
  SessionArguments session;
  ReportArguments report;
  DataFiles test;
  std::string load, objective;
};

class PredictCommand : public Command {
public:
  explicit PredictCommand(CLI::App &command) {
    session.add(command);
    command.add_option("--load", load, "The state to predict with")
        ->type_name("FILE")
        ->required();
    input.add(command, "--input", "The data: a file for each input");
    command.get_option("--input")->required();
    command
        .add_option("--output", outputs,
                    "Where to write the rows (.npy); NAME=FILE if there are "
                    "several outputs")
        ->type_name("FILE")
        ->required();
    command
        .add_option("--function", function,
                    "The mg.predict to run, if the model has several")
        ->type_name("NAME");
    report.add(command);
  }

  mg_code run() override {
    mg_predict_options options;
    mg_predict_options_init(&options);
    const std::vector<mg_data> &data = input.parse();
    const std::vector<mg_output> files = parseOutputs();
    options.function = orNull(function);
    options.data = data.data();
    options.data_count = data.size();
    options.outputs = files.data();
    options.output_count = files.size();
    options.report = report.report(session.device == "cpu");
    OpenSession opened;
    MGRUN_TRY(opened.open(session));
    MGRUN_TRY(mg_load(opened.get(), load.c_str(), 0, nullptr));
    return mg_predict(opened.get(), &options);
  }

private:
  /// One FILE, which may hold '=', or several NAME=FILE.
  std::vector<mg_output> parseOutputs() {
    if (outputs.size() == 1 && outputs[0].find('=') == std::string::npos)
      return {{nullptr, outputs[0].c_str()}};
    std::vector<mg_output> files;
    for (std::string &text : outputs) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos)
        throw CLI::ValidationError("--output: expected NAME=FILE, found '" +
                                   text + "'");
      text[equals] = '\0'; // ends the name
      files.push_back({text.c_str(), text.c_str() + equals + 1});
    }
    return files;
  }

  SessionArguments session;
  ReportArguments report;
  DataFiles input;
  std::vector<std::string> outputs;
  std::string load, function;
};

} // namespace

std::unique_ptr<Command> addEvaluate(CLI::App &command) {
  return std::make_unique<EvaluateCommand>(command);
}
std::unique_ptr<Command> addPredict(CLI::App &command) {
  return std::make_unique<PredictCommand>(command);
}

} // namespace mgrun
