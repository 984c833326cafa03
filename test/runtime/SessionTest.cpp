// Training, evaluating and predicting the toy model gives one result whatever
// the devices, threads and units. R.. are the cases of public reports that a
// test stands for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace mg::test {
namespace {

const std::vector<Row> r03 = {
    {1, 0}, {2, 0}, {3, 0}, {4, 0}}; // with w = 1: gradient 15

/// Expects a step to go well.
void step(Session &session, uint32_t unitRows, UnitSource &source) {
  auto result = session.step(0, unitRows, source);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->check, -1);
}

/// Rows whose sums are no round numbers, so that a change of order would show.
std::vector<Row> oddRows(int count) {
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i)
    rows.push_back(
        {0.1f * static_cast<float>(i % 17), 0.3f * static_cast<float>(i % 23)});
  return rows;
}

TEST(Session, AShortBatchIsWeightedByItsRows_R01) {
  for (int devices : {1, 2}) {
    auto session = openToy({2}, devices, 1);
    ASSERT_TRUE(session->init(0));
    auto source = dealEvenly({{1, 1}, {1, 1}, {1, 4}}, devices, 2);
    step(*session, 2, source);
    EXPECT_DOUBLE_EQ(session->stepSums(0, 0).mean(), 6);
    EXPECT_FLOAT_EQ(static_cast<float>(weight(*session)), 0.4f);
  }
}

TEST(Session, DevicesWithoutRowsAddNothing_R02) {
  auto session = openToy({1}, 4, 2);
  ASSERT_TRUE(session->init(0));
  auto full = dealEvenly({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, 4, 1),
       single = dealEvenly({{1, 4}}, 4, 1);
  step(*session, 1, full);
  EXPECT_FLOAT_EQ(static_cast<float>(weight(*session)), 0.2f);
  step(*session, 1, single);
  for (int device = 0; device < 4; ++device)
    EXPECT_FLOAT_EQ(static_cast<float>(weight(*session, device)), 0.96f);
  EXPECT_NEAR(session->epochSums(0, 0).mean(), 3.688, 1e-6);
  EXPECT_EQ(session->epochSums(0, 0).weight, 5);
}

TEST(Session, AStepWithoutAnyRowChangesNoWeight) {
  auto session = openToy({1}, 2, 2);
  ASSERT_TRUE(session->init(3));
  ToySource none({}, {{}, {}}, 1);
  step(*session, 1, none);
  EXPECT_EQ(weight(*session), 3);
  EXPECT_EQ(session->stepSums(0, 0).mean(), 0);
}

TEST(Session, GradientsAreNeitherSummedNorAveragedTwice_R03) {
  for (int devices : {1, 2, 4}) {
    auto session = openToy({1}, devices, 2);
    ASSERT_TRUE(session->init(1));
    auto source = dealEvenly(r03, devices, 1);
    step(*session, 1, source);
    EXPECT_FLOAT_EQ(static_cast<float>(weight(*session)), 1 - 0.1f * 15);
  }
}

TEST(Session, DevicesWithUnequalUnitCountsFinish_R10) {
  auto session = openToy({2}, 2, 2);
  ASSERT_TRUE(session->init(0));
  ToySource first(oddRows(7), {{{0, 2}}, {{2, 2}}}, 2),
      second(oddRows(7), {{{4, 2}, {6, 1}}, {}}, 2);
  step(*session, 2, first);
  EXPECT_EQ(session->stepSums(0, 0).weight, 4);
  step(*session, 2, second);
  EXPECT_EQ(session->stepSums(0, 0).weight, 3);
  EXPECT_EQ(session->stepCount(), 2);
}

TEST(Session, AnUnequalSplitGivesTheSameGradient_R18) {
  auto session = openToy({1}, 2, 2);
  ASSERT_TRUE(session->init(1));
  ToySource source(r03, {{{0, 1}, {1, 1}, {2, 1}}, {{3, 1}}}, 1);
  step(*session, 1, source);
  EXPECT_FLOAT_EQ(static_cast<float>(weight(*session)), 1 - 0.1f * 15);
}

/// Weight after 20 steps of 240 rows.
double train(int devices, int threads, uint32_t unitRows) {
  auto session = openToy({8, 60}, devices, threads, 0.01f);
  EXPECT_TRUE(session->init(1));
  auto source = dealEvenly(oddRows(240), devices, unitRows);
  for (int i = 0; i < 20; ++i)
    step(*session, unitRows, source);
  EXPECT_EQ(session->stepCount(), 20);
  for (int device = 1; device < devices; ++device)
    EXPECT_EQ(weight(*session, device), weight(*session, 0))
        << "device " << device;
  return weight(*session);
}

TEST(Session, ThreadsChangeNoBit) {
  for (int devices : {1, 2, 3, 4, 8}) {
    double expected = train(devices, 1, 8);
    for (int threads : {2, 3, 4, 8, 9})
      EXPECT_EQ(train(devices, threads, 8), expected)
          << devices << " devices, " << threads << " threads";
  }
}

TEST(Session, DevicesAndUnitsChangeOnlyRounding) {
  double expected = train(1, 1, 8);
  for (int devices : {1, 2, 4, 8})
    for (uint32_t unitRows : {8u, 60u})
      EXPECT_NEAR(train(devices, 2, unitRows), expected, 1e-12)
          << devices << " devices, units of " << unitRows;
}

TEST(Session, SixtyFourDevicesRunOnTwoThreads) {
  EXPECT_NEAR(train(64, 2, 8), train(1, 1, 8), 1e-12);
}

TEST(Session, WorkersAreDealtToDevices) {
  EXPECT_EQ(openToy({1}, 1, 4)->workerCount(), 4);
  EXPECT_EQ(openToy({1}, 2, 5)->workerCount(), 4);
  EXPECT_EQ(openToy({1}, 8, 3)->workerCount(), 3);
  EXPECT_GE(openToy({1}, 1, 0)->workerCount(), 1);
}

/// Every byte of the state of all devices but staging and control, which a
/// refused step may write.
std::vector<std::byte> durableState(Session &session) {
  std::vector<std::byte> all;
  for (int device = 0; device < session.deviceCount(); ++device)
    for (auto *variable : *session.bundle().tables().variables()) {
      auto bytes = session.state(device, *variable->array());
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  return all;
}

TEST(Session, ABadRowIsNamedAndLeavesTheStateUntouched) {
  for (int devices : {1, 2, 4}) {
    auto session = openToy({2}, devices, 2);
    ASSERT_TRUE(session->init(1));
    auto rows = oddRows(16);
    auto good = dealEvenly(rows, devices, 2);
    step(*session, 2, good);
    auto before = durableState(*session);
    double epoch = session->epochSums(0, 0).weighted;
    rows[13].target = 555;
    rows[6].target = -777;
    rows[7].target = 888;
    auto bad = dealEvenly(rows, devices, 2);
    auto result = session->step(0, 2, bad);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->check, 0);
    EXPECT_EQ(result->row, 6);
    EXPECT_EQ(result->value, -777);
    EXPECT_EQ(durableState(*session), before);
    EXPECT_EQ(session->stepCount(), 1);
    EXPECT_EQ(session->epochSums(0, 0).weighted, epoch);
    step(*session, 2, good); // and training goes on
    EXPECT_EQ(session->stepCount(), 2);
  }
}

TEST(Session, EvaluationAddsWindowsUntilCleared) {
  for (int devices : {1, 2, 4}) {
    auto session = openToy({2}, devices, 2);
    ASSERT_TRUE(session->init(1));
    auto first = dealEvenly(r03, devices, 2),
         second = dealEvenly({{2, 0}}, devices, 2);
    for (UnitSource *source :
         std::initializer_list<UnitSource *>{&first, &second}) {
      auto result = session->evaluate(0, 2, *source);
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(result->check, -1);
    }
    EXPECT_EQ(session->evaluationSums(0, 0).weighted, 1 + 4 + 9 + 16 + 4);
    EXPECT_EQ(session->evaluationSums(0, 0).weight, 5);
    EXPECT_EQ(weight(*session), 1);
    session->clearEvaluation(0);
    EXPECT_EQ(session->evaluationSums(0, 0).weight, 0);
  }
}

TEST(Session, EvaluationNamesABadRowUntilCleared) {
  auto session = openToy({1}, 2, 2);
  ASSERT_TRUE(session->init(1));
  auto bad = dealEvenly({{1, 0}, {1, 0}, {1, 300}}, 2, 1),
       good = dealEvenly(r03, 2, 1);
  EXPECT_EQ(session->evaluate(0, 1, bad)->row, 2);
  EXPECT_EQ(session->evaluate(0, 1, good)->value, 300);
  session->clearEvaluation(0);
  EXPECT_EQ(session->evaluate(0, 1, good)->check, -1);
}

class CollectRows final : public Session::OutputSink {
public:
  void take(int, int, Unit unit,
            std::span<const std::byte *const> outputs) override {
    for (int64_t i = 0; i < unit.rows; ++i)
      std::memcpy(&rows[unit.row0 + i], outputs[0] + 4 * i, 4);
  }
  std::map<int64_t, float> rows;
};

TEST(Session, PredictionKeepsRowsAndOrder_R09) {
  std::vector<Row> input;
  for (int i = 0; i < 10; ++i)
    input.push_back({static_cast<float>(i), 0});
  for (int devices : {1, 2, 4, 8}) {
    auto session = openToy({2}, devices, 2);
    ASSERT_TRUE(session->init(1));
    auto source = dealEvenly(input, devices, 2);
    CollectRows sink;
    auto result = session->predict(0, 2, source, sink);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(sink.rows.size(), 10u);
    for (auto [row, value] : sink.rows)
      EXPECT_EQ(value, static_cast<float>(row));
  }
}

TEST(Session, PredictionForgetsTheBadRowOfTheCallBefore) {
  auto session = openToy({1}, 2, 2);
  ASSERT_TRUE(session->init(1));
  auto bad = dealEvenly({{1, 0}, {1, 101}}, 2, 1), good = dealEvenly(r03, 2, 1);
  CollectRows sink;
  EXPECT_EQ(session->predict(0, 1, bad, sink)->row, 1);
  EXPECT_EQ(session->predict(0, 1, good, sink)->check, -1);
}

TEST(Session, InitStartsAgain) {
  auto session = openToy({1}, 2, 2);
  ASSERT_TRUE(session->init(1));
  auto source = dealEvenly(r03, 2, 1);
  step(*session, 1, source);
  ASSERT_TRUE(session->init(5));
  EXPECT_EQ(session->seed(), 5u);
  EXPECT_EQ(session->stepCount(), 0);
  EXPECT_EQ(weight(*session, 1), 5);
  EXPECT_EQ(session->epochSums(0, 0).weight, 0);
}

TEST(Session, ScalarsHoldTheirDefaultsFromTheStartAndCanBeSet) {
  auto session = openToy({1}, 2, 1, 0.25f);
  const schema::Array &rate =
      *session->bundle().tables().scalars()->Get(0)->array();
  float value = 0;
  std::memcpy(&value, session->state(1, rate).data(), 4);
  EXPECT_EQ(value, 0.25f);
  ASSERT_TRUE(session->init(1));
  value = 0;
  for (int device = 0; device < 2; ++device)
    std::memcpy(session->state(device, rate).data(), &value, 4);
  auto source = dealEvenly(r03, 2, 1);
  step(*session, 1, source);
  EXPECT_EQ(weight(*session), 1);
}

TEST(Session, TimesAddUpAndReset) {
  auto session = openToy({2}, 2, 2);
  ASSERT_TRUE(session->init(1));
  auto source = dealEvenly(r03, 2, 2);
  step(*session, 2, source);
  EXPECT_GT(session->times(1).busy, 0);
  EXPECT_GT(session->times(1).waitingForData, 0);
  EXPECT_GT(session->times(1).bytes, 0u);
  session->resetTimes();
  EXPECT_EQ(session->times(1).busy, 0);
  EXPECT_GT(session->times(1).bytes, 0u);
}

TEST(Session, WhatDoesNotExistIsRefused) {
  auto session = openToy({2, 4}, 1, 1);
  auto source = dealEvenly(r03, 1, 3);
  auto result = session->step(0, 3, source);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::InvalidArgument);
  EXPECT_NE(result.error().message.find("units of 3 rows, its units have 2, 4"),
            std::string::npos)
      << result.error().message;
  EXPECT_FALSE(session->step(1, 2, source));
  EXPECT_FALSE(session->evaluate(-1, 2, source));
  CollectRows sink;
  EXPECT_FALSE(session->predict(1, 2, source, sink));
}

TEST(Session, WrongOptionsAreRefused) {
  TemporaryFile file(toyBundle({1}).file());
  std::shared_ptr<Bundle> bundle = std::move(*Bundle::open(file.path()));
  for (const SessionOptions &options :
       {SessionOptions{{}, 1}, SessionOptions{{0, 0}, 1},
        SessionOptions{{-1}, 1}, SessionOptions{{0}, -1},
        SessionOptions{{0}, 1 << 20},
        SessionOptions{std::vector<int>(5000), 1}}) {
    auto session = Session::open(bundle, options);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, Code::InvalidArgument);
  }
}

TEST(Session, AFailedOpenLeavesTheNextOneWell) {
  BundleBuilder broken = toyBundle({1});
  broken.images[0].assign(4096, std::byte{7});
  TemporaryFile file(broken.file());
  auto session = Session::open(std::move(*Bundle::open(file.path())), {{0}, 1});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::BadInput);
  EXPECT_NE(session.error().message.find("cannot load the code image"),
            std::string::npos);
  EXPECT_EQ(train(1, 1, 8), train(1, 1, 8));
}

TEST(Session, TwoSessionsOfOneBundleAreApart) {
  auto first = openToy({1}, 1, 1), second = openToy({1}, 1, 2);
  ASSERT_TRUE(first->init(1));
  ASSERT_TRUE(second->init(2));
  EXPECT_EQ(weight(*first), 1);
  EXPECT_EQ(weight(*second), 2);
}

TEST(Session, AMissingKernelIsNamed) {
  for (const char *name :
       {"toy_missing", "exit"}) { // "exit" is the C library's, not the image's
    BundleBuilder builder = toyBundle({1});
    builder.kernel(name, schema::Grid(1, 1, 1));
    TemporaryFile file(builder.file());
    auto session =
        Session::open(std::move(*Bundle::open(file.path())), {{0}, 1});
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, Code::BadInput);
    EXPECT_NE(session.error().message.find(name), std::string::npos)
        << session.error().message;
  }
}

} // namespace
} // namespace mg::test
