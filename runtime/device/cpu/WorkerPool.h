// W workers that run one task together again and again: the calling thread is
// worker 0, the others are threads that wait in between. With one worker there
// is no thread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"

#include <atomic>
#include <memory>
#include <pthread.h>
#include <vector>

namespace mg {

class WorkerPool {
public:
  using Task = void (*)(void *context, int worker);

  /// Errors: Unsupported when the system starts no more threads.
  static Expected<std::unique_ptr<WorkerPool>> start(int workers, bool spin);
  ~WorkerPool();

  int size() const { return static_cast<int>(threads.size()) + 1; }

  /// Runs `task` on every worker and returns when all are done. From one thread
  /// at a time.
  void run(Task task, void *context);

private:
  struct Thread {
    WorkerPool *pool;
    int worker;
    pthread_t handle;
  };

  explicit WorkerPool(bool spin) : spin(spin) {}
  bool startThread(Thread &thread);
  void loop(int worker);
  void release(Task task, void *context);

  const bool spin;
  std::vector<Thread> threads; // never grows after start(): the threads hold
                               // pointers to their records
  Task task = nullptr;         // null: the workers end
  void *context = nullptr;
  alignas(64) std::atomic<uint32_t> started{0}; // counts tasks
  alignas(64) std::atomic<uint32_t> pending{
      0}; // workers that have not finished the task
  alignas(64) std::atomic<uint32_t> finished{0};
};

} // namespace mg
