// Builds the toy bundle entry by entry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace mg::test {
namespace {

using schema::DType;
using schema::Grid;
using schema::Range;
using schema::Role;

/// Where the toy's values lie.
struct Places {
  Range seed, step, row0, rows, w, x, target, y, learningRate;
  Range window, gradient, loss, check;         // window: all of it
  Range epochLoss, evaluation, evaluationLoss; // evaluation: all of it
  Range predictCheck, rowGradient, rowLoss;
};

Range word(uint64_t offset) { return Range(schema::Region::State, offset, 8); }

std::unique_ptr<schema::InputT> input(BundleBuilder &builder,
                                      const char *name) {
  auto input = std::make_unique<schema::InputT>();
  input->array = builder.array(name, DType::F32, {builder.tables.units.back()});
  input->row_bytes = 4;
  return input;
}

void addArrays(BundleBuilder &builder, Places &at, float learningRate) {
  schema::BundleT &tables = builder.tables;
  tables.variables.push_back(std::make_unique<schema::VariableT>());
  tables.variables[0]->array = builder.array("w", DType::F64, {});
  at.w = rangeOf(*tables.variables[0]->array);
  tables.inputs.push_back(input(builder, "x"));
  tables.inputs.push_back(input(builder, "target"));
  at.x = rangeOf(*tables.inputs[0]->array);
  at.target = rangeOf(*tables.inputs[1]->array);
  tables.outputs.push_back(std::make_unique<schema::OutputT>());
  tables.outputs[0]->array =
      builder.array("y", DType::F32, {tables.units.back()});
  tables.outputs[0]->row_bytes = 4;
  at.y = rangeOf(*tables.outputs[0]->array);
  tables.scalars.push_back(std::make_unique<schema::ScalarT>());
  tables.scalars[0]->array = builder.array("learning_rate", DType::F32, {});
  tables.scalars[0]->value = learningRate;
  at.learningRate = rangeOf(*tables.scalars[0]->array);
}

void addPlaces(BundleBuilder &builder, Places &at) {
  const schema::Control &control = *builder.tables.control;
  at.seed = word(control.seed());
  at.step = word(control.step());
  at.row0 = word(control.row0());
  at.rows = word(control.rows());
  at.window = builder.state(192);
  at.gradient =
      part(at.window, 0, 16); // the sum and a count that nothing reads
  at.loss = part(at.window, 64, 16);
  at.check = part(at.window, 128, 16);
  at.epochLoss = builder.state(16);
  at.evaluation = builder.state(128);
  at.evaluationLoss = part(at.evaluation, 0, 16);
  at.predictCheck = builder.state(16);
  at.rowGradient = builder.arena(8 * uint64_t(builder.tables.units.back()));
  at.rowLoss = builder.arena(8 * uint64_t(builder.tables.units.back()));
}

void addTrain(BundleBuilder &builder, const Places &at) {
  auto train = std::make_unique<schema::TrainT>();
  train->name = "fit";
  train->inputs = {0, 1};
  train->window = std::make_unique<Range>(at.window);
  for (const Range &sum : {at.gradient, at.loss})
    train->sums.emplace_back(schema::DType::F64, sum.offset(), sum.bytes());
  train->epoch = std::make_unique<Range>(at.epochLoss);
  train->evaluation = std::make_unique<Range>(at.evaluation);
  train->metrics.push_back(std::make_unique<schema::MetricT>());
  train->metrics[0]->name = "loss";
  train->metrics[0]->window = at.loss.offset();
  train->metrics[0]->epoch = at.epochLoss.offset();
  train->metrics[0]->evaluation = at.evaluationLoss.offset();
  train->checks.push_back(std::make_unique<schema::CheckT>());
  train->checks[0]->window = at.check.offset();
  train->checks[0]->evaluation = at.evaluation.offset() + 64;
  train->checks[0]->input = "target";
  builder.tables.trains.push_back(std::move(train));

  auto predict = std::make_unique<schema::PredictT>();
  predict->name = "y";
  predict->inputs = {0, 1};
  predict->outputs = {0};
  predict->checks.push_back(std::make_unique<schema::CheckT>());
  predict->checks[0]->evaluation = at.predictCheck.offset();
  builder.tables.predicts.push_back(std::move(predict));
}

void addUnitEntries(BundleBuilder &builder, const Places &at, uint32_t unit) {
  Grid perRow(builder.tables.units.back(), 1, 1), one(1, 1, 1);
  auto addRows = [&](schema::EntryT &entry) {
    builder.launch(
        entry, "toy_rows", perRow,
        {at.x, at.target, at.w, at.rows, at.rowGradient, at.rowLoss});
  };
  for (Role role : {Role::AccumulateFirst, Role::Accumulate}) {
    schema::EntryT &entry = builder.entry(role, 0, unit);
    if (role == Role::AccumulateFirst)
      builder.fill(entry, at.window, 0);
    addRows(entry);
    builder.launch(entry, "toy_add", one,
                   {at.rowGradient, at.rows, at.gradient}, {unit});
    builder.launch(entry, "toy_add", one, {at.rowLoss, at.rows, at.loss},
                   {unit});
    builder.launch(entry, "toy_check", one,
                   {at.target, at.row0, at.rows, at.check}, {-100, 100});
  }
  schema::EntryT &evaluate = builder.entry(Role::Evaluate, 0, unit);
  addRows(evaluate);
  builder.launch(evaluate, "toy_add", one,
                 {at.rowLoss, at.rows, at.evaluationLoss}, {unit});
  builder.launch(evaluate, "toy_check", one,
                 {at.target, at.row0, at.rows, part(at.evaluation, 64, 16)},
                 {-100, 100});
  schema::EntryT &predict = builder.entry(Role::Predict, 0, unit);
  builder.launch(predict, "toy_predict", perRow, {at.x, at.w, at.y});
  builder.launch(predict, "toy_check", one,
                 {at.target, at.row0, at.rows, at.predictCheck}, {-100, 100});
}

void addEntries(BundleBuilder &builder, const Places &at) {
  Grid one(1, 1, 1);
  builder.launch(builder.entry(Role::Init, -1, 0), "toy_init", one,
                 {at.seed, at.w, at.step});
  for (uint32_t unit : builder.tables.units)
    addUnitEntries(builder, at, unit);
  schema::EntryT &update = builder.entry(Role::Update, 0, 0);
  builder.allReduce(update, schema::Reduction::Sum, DType::F64,
                    part(at.window, 0, 128));
  builder.allReduce(update, schema::Reduction::Max, DType::I64, at.check);
  builder.launch(update, "toy_update", one,
                 {at.gradient, at.loss, at.check, at.learningRate, at.w,
                  at.step, at.epochLoss});
}

} // namespace

BundleBuilder toyBundle(std::vector<uint32_t> units, float learningRate) {
  BundleBuilder builder(std::move(units));
  Places at;
  addArrays(builder, at, learningRate);
  addPlaces(builder, at);
  addTrain(builder, at);
  addEntries(builder, at);
  builder.target("x86-64", {"+sse2"}, toyImage());
  return builder;
}

Bytes toyImage() {
  std::ifstream file(MG_TOY_KERNELS, std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  auto *data = reinterpret_cast<const std::byte *>(text.data());
  return Bytes(data, data + text.size());
}

std::unique_ptr<Session> openToy(std::vector<uint32_t> units, int devices,
                                 int threads, float learningRate) {
  TemporaryFile file(toyBundle(std::move(units), learningRate).file());
  SessionOptions options;
  for (int i = 0; i < devices; ++i)
    options.deviceIds.push_back(i);
  options.threads = threads;
  auto session =
      Bundle::open(file.path()).and_then([&](std::unique_ptr<Bundle> &&bundle) {
        return Session::open(std::move(bundle), options);
      });
  if (session)
    return std::move(*session);
  std::fprintf(stderr, "%s\n", session.error().message.c_str());
  std::abort();
}

double weight(Session &session, int device) {
  double value;
  const schema::Array &array =
      *session.bundle().tables().variables()->Get(0)->array();
  std::memcpy(&value, session.state(device, array).data(), sizeof value);
  return value;
}

Unit ToySource::fill(int device, int k,
                     std::span<std::byte *const> destination) {
  Unit unit = units[static_cast<size_t>(device)][static_cast<size_t>(k)];
  for (uint32_t i = 0; i < unitRows; ++i) {
    const Row &row = rows[static_cast<size_t>(
        unit.row0 + std::min<int64_t>(i, unit.rows - 1))];
    std::memcpy(destination[0] + 4 * i, &row.x, 4);
    std::memcpy(destination[1] + 4 * i, &row.target, 4);
  }
  return unit;
}

ToySource dealEvenly(std::vector<Row> rows, int devices, uint32_t unitRows) {
  auto count = static_cast<int64_t>(rows.size());
  int64_t units = (count + unitRows - 1) / unitRows,
          share = (units + devices - 1) / devices;
  std::vector<std::vector<Unit>> dealt(static_cast<size_t>(devices));
  for (int64_t unit = 0; unit < units; ++unit)
    dealt[static_cast<size_t>(unit / share)].push_back(
        {unit * unitRows,
         std::min<int64_t>(unitRows, count - unit * unitRows)});
  return ToySource(std::move(rows), std::move(dealt), unitRows);
}

} // namespace mg::test
