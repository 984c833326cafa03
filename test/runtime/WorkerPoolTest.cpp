// The pool runs each task once on every worker; a barrier lets nobody through
// early.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/WorkerPool.h"
#include "runtime/device/cpu/Barrier.h"

#include <gtest/gtest.h>
#include <vector>

namespace mg {
namespace {

TEST(WorkerPool, EveryWorkerRunsEveryTaskOnce) {
  for (int workers : {1, 2, 5}) {
    for (bool spin : {false, true}) {
      auto pool = WorkerPool::start(workers, spin);
      ASSERT_TRUE(pool);
      std::vector<int> counts(static_cast<size_t>(workers));
      for (int i = 0; i < 500; ++i)
        (*pool)->run(
            [](void *context, int worker) {
              ++(*static_cast<std::vector<int> *>(
                  context))[static_cast<size_t>(worker)];
            },
            &counts);
      EXPECT_EQ(counts, std::vector<int>(static_cast<size_t>(workers), 500));
    }
  }
}

struct Meeting {
  Barrier barrier;
  std::vector<int>
      round; // of each worker; plain ints: the barrier alone orders them
  bool good = true;
};

TEST(Barrier, WhatWasWrittenBeforeIsVisibleAfter) {
  for (int workers : {2, 4}) {
    auto pool = WorkerPool::start(workers, workers == 2);
    ASSERT_TRUE(pool);
    Meeting meeting{{workers, workers == 2},
                    std::vector<int>(static_cast<size_t>(workers))};
    (*pool)->run(
        [](void *context, int worker) {
          auto &meeting = *static_cast<Meeting *>(context);
          for (int i = 1; i <= 300; ++i) {
            meeting.round[static_cast<size_t>(worker)] = i;
            meeting.barrier.arriveAndWait();
            bool good = true;
            for (int round : meeting.round)
              good &= round == i;
            meeting.barrier.arriveAndWait();
            if (worker == 0)
              meeting.good &= good;
          }
        },
        &meeting);
    EXPECT_TRUE(meeting.good);
  }
}

TEST(WorkerPool, AnIdlePoolEnds) {
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(WorkerPool::start(3, true));
}

} // namespace
} // namespace mg
