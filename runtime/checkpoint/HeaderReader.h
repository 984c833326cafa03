// Reads the JSON header of a safetensors file as a stream of events, so that it
// needs no document in memory and refuses every shape of JSON but the one that
// the format has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/checkpoint/Safetensors.h"

namespace mg {

/// A header entry as written, not yet checked.
struct HeaderEntry {
  std::string name, dtype;
  std::vector<uint64_t> shape, offsets;
};

struct Header {
  std::vector<HeaderEntry> entries;
  Metadata metadata;
};

/// Errors: BadInput, with the byte of the file where the header goes wrong.
Expected<Header> readHeader(std::string_view json);

} // namespace mg
