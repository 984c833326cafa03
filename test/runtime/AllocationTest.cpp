// Steps, evaluations and predictions allocate nothing: this program replaces
// malloc and counts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <atomic>
#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MG_SANITIZED // the sanitizers replace malloc themselves
#endif
#endif

#ifndef MG_SANITIZED
static std::atomic<int64_t> allocations{0};

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, bytes);
}
}

namespace mg::test {
namespace {

class DropRows final : public Session::OutputSink {
public:
  void take(int, int, Unit, std::span<const std::byte *const>) override {}
};

TEST(Allocation, TheCountWorks) {
  int64_t before = allocations;
  toyImage();
  EXPECT_GT(allocations - before, 0);
}

TEST(Allocation, ASteadyStateAllocatesNothing) {
  for (int devices : {1, 2, 5}) {
    auto session = openToy({2}, devices, 2);
    ASSERT_TRUE(session->init(0));
    auto source = dealEvenly(std::vector<Row>(21, {1, 2}), devices, 2);
    DropRows sink;
    auto run = [&] {
      bool good = session->step(0, 2, source).has_value();
      good &= session->evaluate(0, 2, source).has_value();
      good &= session->predict(0, 2, source, sink).has_value();
      session->clearEpoch(0);
      return good && session->stepSums(0, 0).weight == 21;
    };
    bool good = run();
    int64_t before = allocations;
    for (int i = 0; i < 100; ++i)
      good &= run();
    int64_t during = allocations - before;
    EXPECT_TRUE(good);
    EXPECT_EQ(during, 0) << devices << " devices";
  }
}

} // namespace
} // namespace mg::test
#endif
