// Writes the toy bundle of the runtime's tests to a file, for tests of the
// command line: write_toy_bundle OUT UNIT…
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  std::vector<uint32_t> units;
  for (int i = 2; i < argc; ++i)
    units.push_back(static_cast<uint32_t>(std::atoi(argv[i])));
  mg::test::BundleBuilder builder = mg::test::toyBundle(units);
  for (auto &check : builder.tables.trains[0]->checks) {
    check->minimum = -100;
    check->maximum = 100;
  }
  const mg::test::Bytes file = builder.file();
  FILE *out = std::fopen(argv[1], "wb");
  if (!out)
    return 1;
  const bool written =
      std::fwrite(file.data(), 1, file.size(), out) == file.size();
  return std::fclose(out) == 0 && written ? 0 : 1;
}
