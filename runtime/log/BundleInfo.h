// What is in a bundle, for `mgrun info`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"

#include <string>

namespace mg {

/// Lines for people.
std::string bundleText(const Bundle &bundle);

/// One JSON object on one line: model, compiler, parameters, variables, slots,
/// units, trains, predicts, targets, state_bytes, arena_bytes, constant_bytes,
/// file_bytes.
std::string bundleJson(const Bundle &bundle);

} // namespace mg
