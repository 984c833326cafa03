// libFuzzer's way in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/Fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mg::test::accepts(std::span(reinterpret_cast<const std::byte *>(data), size));
  return 0;
}
