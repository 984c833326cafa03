// Which of a bundle's targets this CPU can run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/schema/bundle_generated.h"

#include <string>

namespace mg {

/// What the target needs and this CPU lacks, space-separated; empty if it fits.
/// A feature that this runtime does not know counts as lacking: running an
/// unknown instruction would end the process.
std::string missingFeatures(const schema::Target &target);

/// Of the CPU targets that fit the one that uses most features. Errors:
/// Unsupported, naming what is missing for each target.
Expected<const schema::Target *> chooseCpuTarget(const schema::Bundle &tables);

} // namespace mg
