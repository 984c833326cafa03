// All-reduce over devices whose memory this process can reach: each caller
// reduces one slice into every device. The order is a binary tree over the
// devices, whatever the number of callers, so results repeat bit for bit
// (RATIONALE R7).
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

/// Slice `part` of `parts` of to = left + right, arrays of `bytes` bytes of f32
/// or f64; `to` may be `right`.
void addSlice(schema::DType dtype, std::byte *to, const std::byte *left,
              const std::byte *right, uint64_t bytes, int part, int parts);

/// Slice `part` of `parts` of a copy.
void copySlice(std::byte *to, const std::byte *from, uint64_t bytes, int part,
               int parts);

/// Fills an array of f32 or f64 with -0: x + (-0) is x, whatever x is.
void fillNegativeZero(schema::DType dtype, std::byte *to, uint64_t bytes);

} // namespace mg
