// The training loop over a fake session: which rows each step saw, what is
// reported, how it stops and goes on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Evaluation.h"
#include "runtime/train/TrainLoop.h"
#include "test/train/FakeSession.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace mg::test {
namespace {

/// A run over rows 0 … rows-1 and what it printed.
struct LoopRun {
  LoopRun(std::vector<uint32_t> units, int devices, int64_t rows)
      : session(std::move(units), devices), data(countingRows(session, rows)) {
    plan.training = DataView::all(data);
    plan.epochs = 1;
  }

  Expected<TrainOutcome> go() {
    Report report([this](Stream, std::string_view text) { printed += text; },
                  Progress::Line, nullptr);
    MG_TRY_ASSIGN(dealing, trainDealing(session, plan.globalBatch));
    return TrainLoop(session, plan, dealing, report, stop).run();
  }

  FakeSession session;
  DataSet data;
  TrainPlan plan;
  std::atomic<bool> stop{false};
  std::string printed;
};

std::vector<int64_t> order(const FakeSession &session) {
  std::vector<int64_t> values;
  for (const SeenWindow &window : session.steps)
    for (int64_t value : FakeSession::valuesOf(window))
      values.push_back(value);
  return values;
}

TEST(TrainLoop, R26_EpochsDifferAndEveryDeviceCountSeesTheSameOrder) {
  std::vector<int64_t> expected;
  for (int devices : {1, 2, 4}) {
    LoopRun run({2}, devices, 8);
    run.session.setSeed(7);
    run.plan.globalBatch = 4;
    run.plan.epochs = 2;
    ASSERT_TRUE(run.go());
    const std::vector<int64_t> seen = order(run.session);
    ASSERT_EQ(seen.size(), 16u);
    const std::vector<int64_t> first(seen.begin(), seen.begin() + 8),
        second(seen.begin() + 8, seen.end());
    EXPECT_NE(first, second);
    EXPECT_TRUE(
        std::is_permutation(first.begin(), first.end(), second.begin()));
    EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 8u);
    if (expected.empty())
      expected = seen;
    EXPECT_EQ(seen, expected) << devices << " devices";
  }
}

TEST(TrainLoop, R10_UnequalShares) {
  LoopRun run({2}, 2, 7);
  ASSERT_TRUE(run.go());
  ASSERT_EQ(run.session.steps.size(), 2u);
  EXPECT_EQ(FakeSession::valuesOf(run.session.steps[0]).size(), 4u);
  EXPECT_EQ(FakeSession::valuesOf(run.session.steps[1]).size(), 3u);
}

TEST(TrainLoop, PaddingCopiesTheUnitsLastRow) {
  LoopRun run({4}, 1, 6);
  run.plan.shuffle.kind = Shuffle::Kind::None;
  ASSERT_TRUE(run.go());
  EXPECT_EQ(run.session.steps[1][0].values, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(run.session.steps[1][0].padding, (std::vector<int64_t>{5, 5}));
}

TEST(TrainLoop, R08_EpochFiguresAreWeightedByRows) {
  LoopRun run(
      {2}, 1,
      5); // values 0 … 4; the mean of batch means would be (0.5 + 2.5 + 4) / 3
  run.plan.shuffle.kind = Shuffle::Kind::None;
  ASSERT_TRUE(run.go());
  EXPECT_NE(run.printed.find("Epoch 1/1\n3/3 - 0s - loss: 2.0000\n"),
            std::string::npos)
      << run.printed;
}

TEST(TrainLoop, ValidationRowsAreTheLastOnesAndAreNeverTrainedOn) {
  LoopRun run({2}, 2, 10);
  run.plan.training = {&run.data, 0, 7};
  run.plan.validation = {&run.data, 7, 3};
  ASSERT_TRUE(run.go());
  for (int64_t value : order(run.session))
    EXPECT_LT(value, 7);
  EXPECT_NE(run.printed.find("val_loss: 8.0000"), std::string::npos)
      << run.printed;
}

TEST(TrainLoop, StepsLimitEndsInsideAnEpoch) {
  LoopRun run({2}, 1, 10);
  run.plan.epochs = 0;
  run.plan.steps = 7;
  const Expected<TrainOutcome> outcome = run.go();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(run.session.steps.size(), 7u);
  EXPECT_EQ(outcome->position.epoch, 1);
  EXPECT_EQ(outcome->position.row, 4);
  EXPECT_NE(run.printed.find("Epoch 2/2\n2/5"), std::string::npos)
      << run.printed;
}

TEST(TrainLoop, StopFinishesTheStepAndResumingSeesTheRemainingRows) {
  LoopRun whole({2}, 2, 22);
  whole.plan.epochs = 2;
  ASSERT_TRUE(whole.go());

  LoopRun first({2}, 2, 22);
  first.session.afterStep = [&](int64_t step) { first.stop = step == 4; };
  first.plan.epochs = 2;
  const Expected<TrainOutcome> stopped = first.go();
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_EQ(first.session.steps.size(), 4u);
  EXPECT_EQ(stopped->position.row, 16);

  LoopRun second({2}, 2, 22);
  second.plan.epochs = 2;
  second.plan.start = stopped->position;
  ASSERT_TRUE(second.go());
  std::vector<int64_t> seen = order(first.session);
  for (int64_t value : order(second.session))
    seen.push_back(value);
  EXPECT_EQ(seen, order(whole.session));
}

TEST(TrainLoop, BadRowIsNamedByItsRowInTheFile) {
  for (int devices : {1, 2}) {
    LoopRun run({2}, devices, 20);
    run.session.limit = 13;
    run.plan.training = {&run.data, 4,
                         11}; // rows 4 … 14 of the file: only 14 is bad
    const Expected<TrainOutcome> outcome = run.go();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::BadData);
    EXPECT_EQ(outcome.error().message,
              "rows.npy row 14: row is 14, expected 0 … 9 (fake.mlir:3:5)");
  }
}

TEST(TrainLoop, ReplicaCheckNamesVariableDeviceAndStep) {
  LoopRun run({2}, 3, 12);
  run.plan.checkReplicas = 1;
  run.session.afterStep = [&](int64_t step) {
    if (step == 2)
      run.session.state(
          1, *run.session.bundle().tables().variables()->Get(0)->array())[4] =
          std::byte{1};
  };
  const Expected<TrainOutcome> outcome = run.go();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "w differs between device 0 and device 1 "
                                     "after step 2, first at element 1");
}

TEST(TrainLoop, EqualReplicasPass) {
  LoopRun run({2}, 3, 12);
  run.plan.checkReplicas = 1;
  EXPECT_TRUE(run.go());
}

TEST(Evaluation, R68_EveryRowCountsExactlyOnce) {
  for (int devices : {1, 2, 4, 8})
    for (int64_t rows : {1, 5, 16, 17, 1000}) {
      FakeSession session({2}, devices);
      const DataSet data = countingRows(session, rows);
      const std::atomic<bool> stop{false};
      const auto metrics =
          evaluateRows(session, 0, DataView::all(data), "val_", stop);
      ASSERT_TRUE(metrics);
      EXPECT_EQ((*metrics)[0].name, "val_loss");
      EXPECT_EQ(session.evaluationSums(0, 0).weight, static_cast<double>(rows));
      EXPECT_EQ((*metrics)[0].value, static_cast<double>(rows - 1) / 2);
    }
}

TEST(Evaluation, StopEndsIt) {
  FakeSession session({2}, 1);
  const DataSet data = countingRows(session, 100);
  const std::atomic<bool> stop{true};
  const auto metrics = evaluateRows(session, 0, DataView::all(data), "", stop);
  ASSERT_FALSE(metrics);
  EXPECT_EQ(metrics.error().code, Code::Interrupted);
}

} // namespace
} // namespace mg::test
