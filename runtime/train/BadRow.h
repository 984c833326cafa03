// Turns what a failed check found into a message about the user's data.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/train/Gather.h"

namespace mg {

using CheckTable = flatbuffers::Vector<flatbuffers::Offset<schema::Check>>;
using InputIndices = flatbuffers::Vector<uint32_t>;

/// "labels.idx row 1: label is 10, expected 0 … 9 (mlp.mlir:22:13)". `gather`
/// is at the window that failed, over `set`.
Error badRow(const CheckFailure &found, const CheckTable &checks,
             const InputIndices &inputs, const schema::Bundle &tables,
             const DataSet &set, const Gather &gather);

} // namespace mg
