// Bundles whose checksums are right, so that the checks behind them are
// reached; what is accepted is told in both forms. Code is not run: it is
// trusted as far as its checksum goes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/StateTable.h"
#include "runtime/mg.h"
#include "runtime/program/Session.h"
#include "runtime/schema/Header.h"
#include "test/fuzz/Fuzz.h"
#include "test/runtime/ToyBundle.h"

namespace mg::test {

std::vector<Bytes> fuzzSeeds() {
  std::vector<Bytes> seeds;
  for (const std::vector<uint32_t> &units :
       {std::vector<uint32_t>{2}, std::vector<uint32_t>{1, 4}}) {
    BundleBuilder builder = toyBundle(units);
    builder.images[0].assign(64, std::byte{1}); // small files mutate better
    seeds.push_back(builder.file());
  }
  return seeds;
}

static void tell(const std::string &path) {
  for (int json : {0, 1}) {
    char *text = nullptr;
    if (mg_info(path.c_str(), json, &text) != MG_OK)
      std::abort(); // it opened a moment ago
    mg_free(text);
  }
}

bool accepts(const Bytes &content) {
  Bytes bytes = content;
  if (bytes.size() >= sizeof(schema::Header))
    repairChecksums(bytes);
  const TemporaryFile file(bytes);
  auto bundle = Bundle::open(file.path());
  if (!bundle)
    return false;
  stateTable((*bundle)->tables());
  tell(file.path());
  return true;
}

} // namespace mg::test
