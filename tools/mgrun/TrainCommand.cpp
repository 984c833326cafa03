// mgrun train: options, initial or loaded state, then one call of mg_train.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/mgrun/Commands.h"

#include <cstdio>

namespace mgrun {
namespace {

class TrainCommand : public Command {
public:
  explicit TrainCommand(CLI::App &command) {
    session.add(command);
    train.add(command, "--train", "Training data: a file for each input");
    command.get_option("--train")->required();
    command
        .add_option(
            "--validation-split", split,
            "Hold out the last rows, before shuffling: a number or a fraction")
        ->type_name("K|F");
    validation.add(command, "--validation",
                   "Validation data, measured after every epoch");
    test.add(command, "--test", "Test data, measured once at the end");
    command
        .add_option("--objective", objective,
                    "The mg.train to run, if the model has several")
        ->type_name("NAME");
    addNumber(command, "--epochs", epochs, 1,
              "Epochs (default 5; with --steps alone, as many as those take)");
    addNumber(command, "--steps", steps, 1, "Stop after so many steps");
    addNumber(command, "--global-batch", globalBatch, 1,
              "Rows a step (default: devices x the bundle's unit)");
    seedOption = addNumber(
        command, "--seed", seed, 0,
        "Seed of initial values, shuffle and dropout (default 0, or the "
        "loaded state's)");
    command
        .add_option("--shuffle", shuffle,
                    "full, none, or rows of the window to shuffle in")
        ->type_name("full|none|WINDOW")
        ->capture_default_str();
    command
        .add_option("--save", save,
                    "Write the state here at the end, or when stopped")
        ->type_name("FILE");
    command.add_option("--load", load, "Start from this state")
        ->type_name("FILE");
    command
        .add_flag(
            "--resume", resume,
            "Go on with the run that --load's state is of: its data "
            "position, optimizer scalars, and --epochs from its beginning")
        ->needs("--load");
    command.add_option("--set", scalars, "Set a scalar of the optimizer")
        ->type_name("NAME=VALUE");
    addNumber(command, "--check-replicas", checkReplicas, 1,
              "Compare the devices' state every K steps")
        ->type_name("K");
    report.add(command);
    addNumber(command, "--json-steps", report.jsonStepInterval, 1,
              "Write a JSON line every K steps, too")
        ->type_name("K");
  }

  mg_code run() override {
    const mg_train_options options = parse();
    std::vector<ScalarValue> values;
    for (const std::string &text : scalars)
      values.push_back(parseScalar(text));
    OpenSession opened;
    MGRUN_TRY(opened.open(session));
    MGRUN_TRY(prepare(opened.get()));
    for (const ScalarValue &scalar : values)
      MGRUN_TRY(mg_scalar_set(opened.get(), orNull(objective),
                              scalar.name.c_str(), scalar.value));
    return mg_train(opened.get(), &options);
  }

private:
  mg_train_options parse() {
    mg_train_options options;
    mg_train_options_init(&options);
    const std::vector<mg_data> &trainData = train.parse(),
                               &validationData = validation.parse(),
                               &testData = test.parse();
    options.train = trainData.data();
    options.train_count = trainData.size();
    options.validation = validationData.data();
    options.validation_count = validationData.size();
    options.test = testData.data();
    options.test_count = testData.size();
    if (!split.empty() && validation.given())
      throw CLI::ValidationError(
          "--validation-split and --validation exclude each other");
    parseSplit(split, options);
    parseShuffle(shuffle, options);
    options.objective = orNull(objective);
    options.steps = steps;
    options.epochs = epochs > 0 ? epochs : steps > 0 ? 0 : options.epochs;
    options.global_batch = globalBatch;
    options.check_replicas = checkReplicas;
    options.save = orNull(save);
    options.resume = resume;
    options.report = report.report(session.device == "cpu");
    return options;
  }

  /// Initial values from the seed, or a loaded state.
  mg_code prepare(mg_session *handle) {
    MGRUN_TRY(mg_init(handle, seed));
    if (load.empty())
      return MG_OK;
    int hasSlots = 1;
    MGRUN_TRY(mg_load(handle, load.c_str(), resume ? 2 : 1, &hasSlots));
    if (!hasSlots)
      std::fprintf(
          stderr, "warning: %s holds weights only: the optimizer starts anew\n",
          load.c_str());
    return seedOption->count() > 0 ? mg_set_seed(handle, seed) : MG_OK;
  }

  SessionArguments session;
  ReportArguments report;
  DataFiles train, validation, test;
  std::string split, objective, shuffle = "full", save, load;
  std::vector<std::string> scalars;
  bool resume = false;
  CLI::Option *seedOption;
  uint64_t seed = 0;
  int64_t epochs = 0, steps = 0, globalBatch = 0, checkReplicas = 0;
};

} // namespace

std::unique_ptr<Command> addTrain(CLI::App &command) {
  return std::make_unique<TrainCommand>(command);
}

} // namespace mgrun
