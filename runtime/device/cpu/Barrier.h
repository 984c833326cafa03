// Waiting between workers: spin for at most 50 µs, then sleep on a futex.
// Neither allocates nor takes a lock.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mg {

inline void pauseCpu() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/// Returns once `word` differs from `old`. `spin` is false where more workers
/// than cores run: spinning would only keep the one that is waited for from
/// running.
inline void waitWhile(const std::atomic<uint32_t> &word, uint32_t old,
                      bool spin) {
  if (spin) {
    auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    do {
      for (int i = 0; i < 64;
           ++i) { // reading the clock costs as much as some pauses
        if (word.load(std::memory_order_acquire) != old)
          return;
        pauseCpu();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  while (word.load(std::memory_order_acquire) == old)
    word.wait(old, std::memory_order_acquire);
}

class alignas(64) Barrier {
public:
  Barrier(int parties, bool spin)
      : parties(static_cast<uint32_t>(parties)), spin(spin) {}

  /// Returns when all parties have called it; what they wrote before is then
  /// visible to all.
  void arriveAndWait() {
    if (parties == 1)
      return;
    uint32_t old = generation.load(
        std::memory_order_relaxed); // cannot change before this party arrives
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < parties)
      return waitWhile(generation, old, spin);
    arrived.store(0, std::memory_order_relaxed);
    generation.store(old + 1, std::memory_order_release);
    generation.notify_all();
  }

private:
  const uint32_t parties;
  const bool spin;
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> generation{0};
};

} // namespace mg
