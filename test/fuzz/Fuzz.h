// What a reader is given: bytes, as a file. A target defines both functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "test/runtime/BundleBuilder.h"

namespace mg::test {

/// Good files to begin with.
std::vector<Bytes> fuzzSeeds();
/// Reads a file of this content; whether it is a good one.
bool accepts(const Bytes &content);

} // namespace mg::test
