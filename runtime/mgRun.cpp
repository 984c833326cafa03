// mg.h: train, evaluate, predict, bench. Opens the data, runs the loop, saves
// and tells.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/AtomicFile.h"
#include "runtime/data/Overwrite.h"
#include "runtime/mg.h"
#include "runtime/train/Bench.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Prediction.h"
#include "runtime/train/SessionHandle.h"
#include "runtime/train/TrainLoop.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <span>

namespace mg {
namespace {

InputArray arrayOf(const mg_data &data) {
  InputArray array;
  array.dtype = static_cast<schema::DType>(data.array.dtype);
  array.shape.assign(data.array.shape, data.array.shape + data.array.rank);
  array.data = {static_cast<const std::byte *>(data.data), data.array.bytes};
  array.source = fmt::format("array '{}'", data.name);
  return array;
}

Expected<DataSet> openData(const mg_session &handle,
                           const flatbuffers::Vector<uint32_t> *inputs,
                           const mg_data *data, size_t count) {
  std::vector<DataSource> sources;
  for (size_t i = 0; i < count; ++i) {
    sources.push_back(
        {data[i].name, data[i].path ? data[i].path : "", std::nullopt});
    if (data[i].path)
      continue;
    InputArray array = arrayOf(data[i]);
    const int64_t expected =
        bytesOf(array.shape, elementType(array.dtype).bytes);
    if (expected < 0 || static_cast<size_t>(expected) != array.data.size())
      return failure(Code::InvalidArgument, "{}: {} takes {} bytes, found {}",
                     array.source, describeArray(array.dtype, array.shape),
                     expected, array.data.size());
    sources.back().array = std::move(array);
  }
  return DataSet::open(sources, handle.tables(), inputs);
}

const flatbuffers::Vector<uint32_t> *inputsOf(const mg_session &handle,
                                              int train) {
  return handle.tables()
      .trains()
      ->Get(static_cast<flatbuffers::uoffset_t>(train))
      ->inputs();
}

Expected<Report> openReport(const mg_report &given) {
  std::unique_ptr<JsonLines> json;
  if (given.json) {
    MG_TRY_ASSIGN(opened, JsonLines::open(given.json));
    json = std::move(opened);
  }
  Printer print = [](Stream, std::string_view) {};
  if (given.print)
    print = [given](Stream stream, std::string_view text) {
      given.print(given.context, static_cast<mg_stream>(stream),
                  std::string(text).c_str());
    };
  return Report(std::move(print), static_cast<Progress>(given.progress),
                std::move(json), given.json_step_interval);
}

/// Before any output is opened: no output may be an input. `save` alone may be
/// the state that was loaded.
Status checkPaths(const mg_session &handle,
                  std::initializer_list<std::span<const mg_data>> sets,
                  std::vector<std::string> outputs, const mg_report &report,
                  const char *save = nullptr) {
  if (report.json)
    outputs.emplace_back(report.json);
  MG_TRY(checkOverwrites({handle.statePath}, outputs));
  std::vector<std::string> inputs = {handle.bundlePath};
  for (std::span<const mg_data> set : sets)
    for (const mg_data &data : set)
      if (data.path)
        inputs.emplace_back(data.path);
  if (save)
    outputs.emplace_back(save);
  return checkOverwrites(inputs, outputs);
}

double secondsNow() { return static_cast<double>(monotonicNs()) * 1e-9; }

DeviceFacts deviceFacts(const Session &session, double seconds) {
  DeviceFacts facts;
  facts.seconds = seconds;
  facts.possible = std::min(1.0, static_cast<double>(session.workerCount()) /
                                     session.deviceCount());
  const auto share = [&](double part) {
    return seconds > 0 ? std::min(1.0, part / seconds) : 0.0;
  };
  for (int device = 0; device < session.deviceCount(); ++device) {
    const DeviceTimes times = session.times(device);
    facts.busy.push_back(share(times.busy));
    facts.waitingForData.push_back(share(times.waitingForData));
    facts.waitingForDevices.push_back(share(times.waitingForDevices));
    facts.memoryBytes.push_back(times.bytes);
  }
  return facts;
}

/// Rows of the validation split: n - floor(n · (1 - f)), as Keras.
Expected<int64_t> splitRows(const mg_train_options &options, int64_t rows) {
  if (options.validation_rows == 0 && options.validation_fraction == 0)
    return 0;
  if (options.validation_count > 0)
    return failure(
        Code::InvalidArgument,
        "validation data and a validation split are both given, expected one");
  int64_t split = options.validation_rows;
  if (split == 0 && options.validation_fraction > 0 &&
      options.validation_fraction < 1)
    split = rows -
            static_cast<int64_t>(std::floor(static_cast<double>(rows) *
                                            (1 - options.validation_fraction)));
  if (split <= 0 || split >= rows)
    return failure(Code::InvalidArgument,
                   "the validation split takes {} of {} rows, expected 1 to {}",
                   split, rows, rows - 1);
  return split;
}

/// The opened data of a training run; the plan's views point into it.
struct TrainData {
  std::optional<DataSet> training, validation, test;
  DataView trainingRows, validationRows;
};

Status openTrainData(const mg_session &handle, const mg_train_options &options,
                     int train, TrainData &data) {
  const auto *inputs = inputsOf(handle, train);
  MG_TRY_ASSIGN(training,
                openData(handle, inputs, options.train, options.train_count));
  data.training.emplace(std::move(training));
  MG_TRY_ASSIGN(split, splitRows(options, data.training->rows()));
  const int64_t kept = data.training->rows() - split;
  data.trainingRows = {&*data.training, 0, kept};
  if (split > 0)
    data.validationRows = {&*data.training, kept, split};
  if (options.validation_count > 0) {
    MG_TRY_ASSIGN(validation, openData(handle, inputs, options.validation,
                                       options.validation_count));
    data.validation.emplace(std::move(validation));
    data.validationRows = DataView::all(*data.validation);
  }
  if (options.test_count > 0) {
    MG_TRY_ASSIGN(test,
                  openData(handle, inputs, options.test, options.test_count));
    data.test.emplace(std::move(test));
  }
  return {};
}

Status checkNumbers(const mg_train_options &options) {
  if (options.epochs < 0 || options.steps < 0 || options.global_batch < 0 ||
      options.check_replicas < 0)
    return failure(Code::InvalidArgument,
                   "epochs, steps, global batch or replica check is negative");
  if (options.epochs == 0 && options.steps == 0)
    return failure(Code::InvalidArgument,
                   "neither epochs nor steps say when to stop");
  constexpr int64_t largestBatch = int64_t{1} << 40;
  if (options.global_batch > largestBatch)
    return failure(Code::InvalidArgument,
                   "the global batch is {} rows, expected at most {}",
                   options.global_batch, largestBatch);
  if (options.shuffle == MG_SHUFFLE_WINDOW && options.shuffle_window < 1)
    return failure(Code::InvalidArgument,
                   "the shuffle window is {} rows, expected at least 1",
                   options.shuffle_window);
  return {};
}

TrainPlan planOf(const mg_session &handle, const mg_train_options &options,
                 int train, const TrainData &data) {
  TrainPlan plan;
  plan.train = train;
  plan.training = data.trainingRows;
  plan.validation = data.validationRows;
  plan.epochs = options.epochs;
  plan.steps = options.steps;
  plan.globalBatch = options.global_batch;
  plan.shuffle = {options.shuffle == MG_SHUFFLE_FULL   ? Shuffle::Kind::Full
                  : options.shuffle == MG_SHUFFLE_NONE ? Shuffle::Kind::None
                                                       : Shuffle::Kind::Window,
                  options.shuffle_window};
  plan.checkReplicas = options.check_replicas;
  plan.start = handle.position;
  plan.resume = options.resume != 0;
  if (options.on_step)
    plan.onStep = [options](int64_t step, std::span<const double> metrics) {
      options.on_step(options.on_step_context, step, metrics.data(),
                      static_cast<int>(metrics.size()));
    };
  return plan;
}

void reportStart(Report &report, const mg_session &handle,
                 const mg_train_options &options, const TrainPlan &plan,
                 const Dealing &dealing) {
  const GpuProbe gpus = probeGpus();
  const Session &session = *handle.session;
  report.machine(gpus, session.deviceCount(), options.report.cpu_asked_for);
  report.start({gpus.visible, session.deviceCount(), session.workerCount(),
                plan.training.rows, plan.validation.rows, dealing.windowRows,
                dealing.unitRows, dealing.windowsOf(plan.training.rows),
                session.seed()});
}

Error interruption(const mg_session &handle, const char *save) {
  return {Code::Interrupted,
          fmt::format("stopped after step {}, {}", handle.session->stepCount(),
                      save ? fmt::format("the state is saved to {}", save)
                           : "the state is not saved (no --save)")};
}

Status testRows(mg_session &handle, int train, DataView rows, Report &report) {
  MG_TRY_ASSIGN(metrics,
                evaluateRows(*handle.session, train, rows, "", handle.stop));
  report.test({rows.rows, metrics});
  for (const MetricValue &metric : metrics)
    handle.metrics.push_back({"test_" + metric.name, metric.value});
  return {};
}

Status train(mg_session &handle, const mg_train_options &options) {
  MG_TRY(checkNumbers(options));
  MG_TRY_ASSIGN(index, findTrain(handle.tables(), options.objective));
  MG_TRY(checkPaths(handle,
                    {{options.train, options.train_count},
                     {options.validation, options.validation_count},
                     {options.test, options.test_count}},
                    {}, options.report, options.save));
  MG_TRY_ASSIGN(report, openReport(options.report));
  TrainData data;
  MG_TRY(openTrainData(handle, options, index, data));
  const TrainPlan plan = planOf(handle, options, index, data);
  MG_TRY_ASSIGN(dealing, trainDealing(*handle.session, plan.globalBatch));
  if (options.save) // a run that cannot be saved is not begun
    MG_TRY(AtomicFile::create(options.save));
  reportStart(report, handle, options, plan, dealing);
  Session &session = *handle.session;
  session.resetTimes();
  const double begin = secondsNow();
  Expected<TrainOutcome> outcome =
      TrainLoop(session, plan, dealing, report, handle.stop).run();
  report.clearProgress();
  if (!outcome)
    return tl::unexpected<Error>(std::move(outcome).error());
  const DeviceFacts facts = deviceFacts(session, secondsNow() - begin);
  handle.position = outcome->position;
  handle.metrics = std::move(outcome->metrics);
  if (options.save)
    MG_TRY(saveCheckpoint(session, options.save, handle.position));
  if (outcome->interrupted)
    return tl::unexpected<Error>(interruption(handle, options.save));
  if (data.test)
    MG_TRY(testRows(handle, index, DataView::all(*data.test), report));
  report.devices(facts);
  return report.finish();
}

Status evaluate(mg_session &handle, const mg_evaluate_options &options) {
  MG_TRY_ASSIGN(index, findTrain(handle.tables(), options.objective));
  MG_TRY(checkPaths(handle, {{options.data, options.data_count}}, {},
                    options.report));
  MG_TRY_ASSIGN(report, openReport(options.report));
  MG_TRY_ASSIGN(data, openData(handle, inputsOf(handle, index), options.data,
                               options.data_count));
  report.machine(probeGpus(), handle.session->deviceCount(),
                 options.report.cpu_asked_for);
  handle.session->resetTimes();
  handle.metrics.clear();
  const double begin = secondsNow();
  MG_TRY(testRows(handle, index, DataView::all(data), report));
  report.devices(deviceFacts(*handle.session, secondsNow() - begin));
  return report.finish();
}

/// A path for each output of the function, "" where none is asked for.
Expected<std::vector<std::string>>
outputPaths(const mg_session &handle, const schema::Predict &table,
            const mg_predict_options &options) {
  std::vector<std::string> paths(table.outputs()->size());
  for (size_t i = 0; i < options.output_count; ++i) {
    const mg_output &output = options.outputs[i];
    std::string names;
    bool found = false;
    for (uint32_t k = 0; k < paths.size(); ++k) {
      const auto *name = handle.tables()
                             .outputs()
                             ->Get(table.outputs()->Get(k))
                             ->array()
                             ->name();
      names += fmt::format("{}{}", k ? ", " : "", name->string_view());
      if (output.name ? name->string_view() == output.name
                      : paths.size() == 1) {
        paths[k] = output.path;
        found = true;
      }
    }
    if (!found)
      return failure(Code::InvalidArgument,
                     "{} has {} outputs, {}: name one of them",
                     table.name()->string_view(), paths.size(), names);
  }
  return paths;
}

Status predict(mg_session &handle, const mg_predict_options &options) {
  MG_TRY_ASSIGN(index, findPredict(handle.tables(), options.function));
  const schema::Predict &table = *handle.tables().predicts()->Get(
      static_cast<flatbuffers::uoffset_t>(index));
  MG_TRY_ASSIGN(paths, outputPaths(handle, table, options));
  MG_TRY(checkPaths(handle, {{options.data, options.data_count}}, paths,
                    options.report));
  MG_TRY_ASSIGN(report, openReport(options.report));
  MG_TRY_ASSIGN(
      data, openData(handle, table.inputs(), options.data, options.data_count));
  report.machine(probeGpus(), handle.session->deviceCount(),
                 options.report.cpu_asked_for);
  MG_TRY(predictRows(*handle.session, index, DataView::all(data), paths,
                     handle.stop));
  for (const std::string &path : paths)
    if (!path.empty() && options.report.progress != MG_PROGRESS_NONE)
      report.line(fmt::format("Wrote {} rows to {}", data.rows(), path));
  return report.finish();
}

Expected<std::string> runBench(mg_session &handle,
                               const mg_bench_options &options) {
  BenchPlan plan;
  MG_TRY_ASSIGN(index, findTrain(handle.tables(), options.objective));
  plan.train = index;
  plan.steps = options.steps;
  plan.warmup = options.warmup;
  plan.globalBatch = options.global_batch;
  plan.startTimeNs =
      options.start_time_ns ? options.start_time_ns : monotonicNs();
  if (plan.steps < 1 || plan.warmup < 0 || plan.globalBatch < 0)
    return failure(
        Code::InvalidArgument,
        "{} steps after {} to warm up, expected at least 1 after 0 or more",
        plan.steps, plan.warmup);
  MG_TRY_ASSIGN(result, bench(*handle.session, plan));
  return benchJson(*handle.session, result);
}

} // namespace
} // namespace mg

using namespace mg;

void mg_train_options_init(mg_train_options *options) {
  *options = {};
  options->size = sizeof *options;
  options->epochs = 5;
}

void mg_evaluate_options_init(mg_evaluate_options *options) {
  *options = {};
  options->size = sizeof *options;
}

void mg_predict_options_init(mg_predict_options *options) {
  *options = {};
  options->size = sizeof *options;
}

void mg_bench_options_init(mg_bench_options *options) {
  *options = {};
  options->size = sizeof *options;
  options->steps = 200;
  options->warmup = 10;
}

mg_code mg_train(mg_session *session, const mg_train_options *options) {
  return report(train(*session, completed(options, mg_train_options_init)));
}

mg_code mg_evaluate(mg_session *session, const mg_evaluate_options *options) {
  return report(
      evaluate(*session, completed(options, mg_evaluate_options_init)));
}

mg_code mg_predict(mg_session *session, const mg_predict_options *options) {
  return report(predict(*session, completed(options, mg_predict_options_init)));
}

mg_code mg_bench(mg_session *session, const mg_bench_options *options,
                 char **json) {
  *json = nullptr;
  auto text = runBench(*session, completed(options, mg_bench_options_init));
  if (!text)
    return report(text.error());
  *json = strdup((*text + "\n").c_str());
  return *json ? MG_OK
               : report(Error{Code::OutOfMemory, "no memory for the text"});
}

mg_code mg_metric(const mg_session *session, const char *name, double *value) {
  std::string names;
  for (const MetricValue &metric : session->metrics) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", metric.name);
    if (metric.name != name)
      continue;
    *value = metric.value;
    return MG_OK;
  }
  return report(Error{Code::InvalidArgument,
                      fmt::format("no metric '{}' was measured; there are {}",
                                  name, names.empty() ? "none" : names)});
}
