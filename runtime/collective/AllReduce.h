// All-reduce over devices whose memory this process can reach: each caller
// reduces one slice into every device. The summation order is the device order,
// whatever the number of callers, so results repeat bit for bit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/schema/bundle_generated.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mg {

/// Whether allReduceSlice can reduce this dtype: f32, f64, i32, i64.
bool canReduce(schema::DType dtype);

/// Reduces slice `part` of `parts` of arrays of `bytes` bytes, one a device, in
/// place on all of them. The parts may run at the same time. A NaN wins max and
/// min; integer sums and products wrap.
void allReduceSlice(schema::Reduction reduction, schema::DType dtype,
                    std::span<std::byte *const> arrays, uint64_t bytes,
                    int part, int parts);

} // namespace mg
