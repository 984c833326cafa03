// The fake's model and its arithmetic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/train/FakeSession.h"

#include <algorithm>
#include <cstring>

namespace mg::test {

static std::unique_ptr<schema::ArrayT> array(std::string name,
                                             schema::DType dtype,
                                             std::vector<int64_t> shape,
                                             uint64_t offset, uint64_t bytes) {
  auto made = std::make_unique<schema::ArrayT>();
  made->name = std::move(name);
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->offset = offset;
  made->bytes = bytes;
  return made;
}

static std::unique_ptr<schema::TrainT> trainTable() {
  auto train = std::make_unique<schema::TrainT>();
  train->name = "fit";
  train->inputs = {0};
  train->metrics.push_back(std::make_unique<schema::MetricT>());
  train->metrics[0]->name = "loss";
  train->checks.push_back(std::make_unique<schema::CheckT>());
  train->checks[0]->input = "row";
  train->checks[0]->maximum = 9;
  train->checks[0]->location = 0;
  return train;
}

FakeBundle::FakeBundle(std::vector<uint32_t> units) {
  schema::BundleT model;
  model.name = "fake";
  model.compiler = "test";
  model.units = std::move(units);
  model.locations = {"fake.mlir:3:5"};
  model.variables.push_back(std::make_unique<schema::VariableT>());
  model.variables[0]->array = array("w", schema::DType::F32, {2}, 0, 8);
  model.slots.push_back(std::make_unique<schema::SlotT>());
  model.slots[0]->array = array("m/w", schema::DType::F32, {2}, 64, 8);
  model.inputs.push_back(std::make_unique<schema::InputT>());
  const int64_t unit = model.units.back();
  model.inputs[0]->array = array("row", schema::DType::I64, {unit}, 128,
                                 8 * static_cast<uint64_t>(unit));
  model.inputs[0]->row_bytes = 8;
  model.trains.push_back(trainTable());
  builder.Finish(schema::Bundle::Pack(builder, &model));
}

FakeSession::FakeSession(std::vector<uint32_t> units, int devices)
    : tables(std::make_shared<FakeBundle>(std::move(units))),
      memory(static_cast<size_t>(devices), std::vector<std::byte>(128)) {}

std::vector<int64_t> FakeSession::valuesOf(const SeenWindow &window) {
  std::vector<int64_t> values;
  for (const SeenUnit &unit : window)
    values.insert(values.end(), unit.values.begin(), unit.values.end());
  return values;
}

Status FakeSession::init(uint64_t seed) {
  seedNumber = seed;
  stepNumber = 0;
  return {};
}

CheckFailure FakeSession::run(uint32_t unitRows, UnitSource &source,
                              SeenWindow &window, Sums &sums) const {
  CheckFailure found{-1, 0, 0};
  for (int device = 0; device < deviceCount(); ++device)
    for (int k = 0; k < source.unitCount(device); ++k) {
      std::vector<int64_t> staging(unitRows, -1);
      std::byte *to = reinterpret_cast<std::byte *>(staging.data());
      const Unit unit = source.fill(device, k, {&to, 1});
      window.push_back({device,
                        unit.row0,
                        {staging.begin(), staging.begin() + unit.rows},
                        {staging.begin() + unit.rows, staging.end()}});
      for (int64_t i = 0; i < unit.rows; ++i) {
        const int64_t value = staging[static_cast<size_t>(i)];
        sums.weighted += static_cast<double>(value);
        sums.weight += 1;
        if (value > limit && (found.check < 0 || unit.row0 + i < found.row))
          found = {0, unit.row0 + i, value};
      }
    }
  return found;
}

Expected<CheckFailure> FakeSession::step(int, uint32_t unitRows,
                                         UnitSource &source) {
  steps.emplace_back();
  lastStep = {};
  const CheckFailure found = run(unitRows, source, steps.back(), lastStep);
  if (found.check >= 0)
    return found;
  epochs.weighted += lastStep.weighted;
  epochs.weight += lastStep.weight;
  ++stepNumber;
  if (afterStep)
    afterStep(stepNumber);
  return found;
}

Expected<CheckFailure> FakeSession::evaluate(int, uint32_t unitRows,
                                             UnitSource &source) {
  evaluations.emplace_back();
  return run(unitRows, source, evaluations.back(), evaluated);
}

std::span<std::byte> FakeSession::state(int device,
                                        const schema::Array &array) {
  return std::span(memory[static_cast<size_t>(device)])
      .subspan(array.offset(), array.bytes());
}

DataSet countingRows(const FakeSession &session, int64_t rows) {
  auto values =
      std::make_shared<std::vector<int64_t>>(static_cast<size_t>(rows));
  std::iota(values->begin(), values->end(), int64_t{0});
  InputArray array{schema::DType::I64,
                   {rows},
                   std::as_bytes(std::span(*values)),
                   values,
                   "rows.npy"};
  const DataSource sources[] = {{"row", "", std::move(array)}};
  const schema::Bundle &tables = session.bundle().tables();
  return DataSet::open(sources, tables, tables.trains()->Get(0)->inputs())
      .value();
}

} // namespace mg::test
