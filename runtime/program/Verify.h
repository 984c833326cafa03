// The checks between a FlatBuffer that is well formed and a bundle that may
// run: every index, offset, size, alignment, overlap and range. Bundle::open
// calls them; nothing else has to check again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/schema/bundle_generated.h"

#include <cstdint>

namespace mg {

/// Checks everything in the tables but entries. Blobs must lie in [tableEnd,
/// fileBytes). Errors: BadInput.
Status verifyTables(const schema::Bundle &tables, uint64_t tableEnd,
                    uint64_t fileBytes);

/// Checks entries and their commands; the rest of the tables must have passed
/// verifyTables. Errors: BadInput.
Status verifyEntries(const schema::Bundle &tables);

} // namespace mg
