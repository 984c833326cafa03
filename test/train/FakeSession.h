// A session without code or threads, for tests of the loop: it keeps what every
// step saw. Its model has one input "row" (i64), the loss is the mean of the
// rows' values, values above `limit` are bad rows, variable "w" (2) f32 and
// slot "m/w".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/program/Session.h"

#include <numeric>

namespace mg::test {

struct SeenUnit {
  int device;
  int64_t row0;
  std::vector<int64_t> values;  // the valid rows
  std::vector<int64_t> padding; // the others
};
using SeenWindow = std::vector<SeenUnit>;

class FakeBundle : public Bundle {
public:
  explicit FakeBundle(std::vector<uint32_t> units);
  const schema::Bundle &tables() const override {
    return *schema::GetBundle(builder.GetBufferPointer());
  }
  std::span<const std::byte> blob(const schema::Blob &) const override {
    return {};
  }
  uint64_t fileBytes() const override { return builder.GetSize(); }

private:
  flatbuffers::FlatBufferBuilder builder;
};

class FakeSession : public Session {
public:
  FakeSession(std::vector<uint32_t> units, int devices);

  std::vector<SeenWindow> steps, evaluations;
  int64_t limit = INT64_MAX;
  std::function<void(int64_t step)> afterStep; // may be empty

  /// The values of a window in row order.
  static std::vector<int64_t> valuesOf(const SeenWindow &window);

  const Bundle &bundle() const override { return *tables; }
  int deviceCount() const override { return static_cast<int>(memory.size()); }
  int workerCount() const override { return 1; }
  bool isDeterministic() const override { return false; }
  std::span<const uint32_t> unitSizes() const override {
    return {tables->tables().units()->data(), tables->tables().units()->size()};
  }
  Status init(uint64_t seed) override;
  Expected<CheckFailure> step(int train, uint32_t unitRows,
                              UnitSource &source) override;
  Expected<CheckFailure> evaluate(int train, uint32_t unitRows,
                                  UnitSource &source) override;
  Expected<CheckFailure> predict(int, uint32_t, UnitSource &,
                                 OutputSink &) override {
    return CheckFailure{-1, 0, 0};
  }
  void clearEpoch(int) override { epochs = {}; }
  void clearEvaluation(int) override { evaluated = {}; }
  Sums stepSums(int, int) const override { return lastStep; }
  Sums epochSums(int, int) const override { return epochs; }
  void setEpochSums(int, int, Sums sums) override { epochs = sums; }
  Sums evaluationSums(int, int) const override { return evaluated; }
  std::span<std::byte> state(int device, const schema::Array &array) override;
  int64_t stepCount() const override { return stepNumber; }
  void setStepCount(int64_t step) override { stepNumber = step; }
  uint64_t seed() const override { return seedNumber; }
  void setSeed(uint64_t seed) override { seedNumber = seed; }
  DeviceTimes times(int) const override { return {}; }
  void resetTimes() override {}

private:
  CheckFailure run(uint32_t unitRows, UnitSource &source, SeenWindow &window,
                   Sums &sums) const;

  std::shared_ptr<FakeBundle> tables;
  std::vector<std::vector<std::byte>> memory;
  Sums lastStep, epochs, evaluated;
  int64_t stepNumber = 0;
  uint64_t seedNumber = 0;
};

/// A data set whose input "row" has the values 0, 1, 2 …
DataSet countingRows(const FakeSession &session, int64_t rows);

} // namespace mg::test
