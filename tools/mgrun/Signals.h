// SIGINT, SIGTERM and SIGHUP ask a session to stop after the step it is in; a
// second one ends the process at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/mg.h"

namespace mgrun {

/// Installs the handlers by sigaction, which process 1 of a container needs:
/// for it the kernel ignores signals that have none. A SIGHUP that is ignored
/// (nohup) stays ignored.
void installSignalHandlers();

/// The session to stop; nullptr: nothing can be saved, so the first signal ends
/// the process.
void setSignalSession(mg_session *session);

/// 128 + the number of the signal that asked to stop, 0 if none did.
int signalExitCode();

} // namespace mgrun
