// Only what is safe in a handler: lock-free atomics, _exit, and what mg.h
// allows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/mgrun/Signals.h"

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <unistd.h>

namespace mgrun {
namespace {

std::atomic<mg_session *> current{nullptr};
std::atomic<int> received{0};
static_assert(std::atomic<mg_session *>::is_always_lock_free);

void handle(int signal) {
  mg_session *session = current;
  if (received.exchange(signal) != 0 || !session) {
    mg_remove_unfinished();
    _exit(128 + signal);
  }
  mg_request_stop(session);
}

} // namespace

void installSignalHandlers() {
  std::signal(SIGPIPE, SIG_IGN); // a write fails instead
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    if (sigaction(signal, nullptr, &before) == 0 && signal == SIGHUP &&
        before.sa_handler == SIG_IGN)
      continue;
    struct sigaction action{};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

void setSignalSession(mg_session *session) { current = session; }

int signalExitCode() { return received == 0 ? 0 : 128 + received; }

} // namespace mgrun
