// Outputs that would destroy what a run reads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace mg {

/// Refuses an output that is, under whatever name, one of the inputs or another
/// output. Empty paths and what is no regular file are left out. Errors:
/// InvalidArgument.
Status checkOverwrites(const std::vector<std::string> &inputs,
                       const std::vector<std::string> &outputs);

} // namespace mg
