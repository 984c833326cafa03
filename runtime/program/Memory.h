// Whether a bundle fits in memory, and words for when it does not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/schema/bundle_generated.h"

namespace mg {

/// Errors: OutOfMemory when `devices` devices need more than `available` bytes.
Status checkMemory(const schema::Bundle &tables, uint64_t devices,
                   uint64_t available);

/// What is planned, the three largest arrays by name, and what to do.
std::string describeMemory(const schema::Bundle &tables, uint64_t devices);

} // namespace mg
