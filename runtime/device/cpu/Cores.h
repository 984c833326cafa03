// How many cores this process may use.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace mg {

/// The smaller of the affinity mask and the cgroup (v1 or v2) CPU quota,
/// rounded up; at least 1.
int usableCores();

} // namespace mg
