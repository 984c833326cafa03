// The pool's hand-over: `started` releases the workers, the last to finish
// advances `finished`, which releases the caller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/WorkerPool.h"

#include "runtime/device/cpu/Barrier.h"

#include <csignal>
#include <cstring>

namespace mg {

Expected<std::unique_ptr<WorkerPool>> WorkerPool::start(int workers,
                                                        bool spin) {
  std::unique_ptr<WorkerPool> pool(new WorkerPool(spin));
  pool->threads.reserve(static_cast<size_t>(workers) - 1);
  for (int worker = 1; worker < workers; ++worker) {
    pool->threads.push_back({pool.get(), worker, {}});
    if (pool->startThread(pool->threads.back()))
      continue;
    pool->threads.pop_back();
    return failure(Code::Unsupported,
                   "cannot start thread {} of {}: {}; use fewer (--threads)",
                   worker, workers - 1, strerror(errno));
  }
  return pool;
}

/// Signals stay with the program's own threads: a worker must not run a handler
/// in the middle of a kernel.
bool WorkerPool::startThread(Thread &thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto body = [](void *argument) -> void * {
    auto *self = static_cast<Thread *>(argument);
    self->pool->loop(self->worker);
    return nullptr;
  };
  int error = pthread_create(&thread.handle, nullptr, body, &thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return error == 0;
}

WorkerPool::~WorkerPool() {
  if (threads.empty())
    return;
  release(nullptr, nullptr);
  for (Thread &thread : threads)
    pthread_join(thread.handle, nullptr);
}

void WorkerPool::release(Task next, void *nextContext) {
  task = next;
  context = nextContext;
  pending.store(static_cast<uint32_t>(threads.size()),
                std::memory_order_relaxed);
  started.fetch_add(1, std::memory_order_release);
  started.notify_all();
}

void WorkerPool::run(Task next, void *nextContext) {
  if (threads.empty())
    return next(nextContext, 0);
  uint32_t before = finished.load(std::memory_order_relaxed);
  release(next, nextContext);
  next(nextContext, 0);
  waitWhile(finished, before, spin);
}

void WorkerPool::loop(int worker) {
  for (uint32_t seen = 0;; ++seen) {
    waitWhile(started, seen, spin);
    if (!task)
      return;
    task(context, worker);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1)
      continue;
    finished.fetch_add(1, std::memory_order_release);
    finished.notify_one();
  }
}

} // namespace mg
