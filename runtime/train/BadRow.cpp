// Window row → row of the file; check → input → file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/BadRow.h"

namespace mg {

/// The file that feeds the input, or the input's name where the caller gave
/// memory.
static std::string sourceOf(std::string_view input, const InputIndices &inputs,
                            const schema::Bundle &tables, const DataSet &set) {
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (tables.inputs()->Get(inputs.Get(i))->array()->name()->string_view() ==
        input)
      return set.array(i).source;
  return "";
}

static std::string placeOf(const schema::Check &check,
                           const schema::Bundle &tables) {
  const auto location = static_cast<flatbuffers::uoffset_t>(check.location());
  if (check.location() < 0 || !tables.locations() ||
      location >= tables.locations()->size())
    return "";
  return fmt::format(" ({})", tables.locations()->Get(location)->string_view());
}

Error badRow(const CheckFailure &found, const CheckTable &checks,
             const InputIndices &inputs, const schema::Bundle &tables,
             const DataSet &set, const Gather &gather) {
  const schema::Check &check =
      *checks.Get(static_cast<flatbuffers::uoffset_t>(found.check));
  const std::string input = check.input() ? check.input()->str() : "";
  const std::string source = sourceOf(input, inputs, tables, set);
  const int64_t row = gather.fileRow(gather.windowStart() + found.row);
  const std::string what = check.message() && check.message()->size()
                               ? ": " + check.message()->str()
                               : "";
  return {Code::BadData,
          fmt::format("{}{}row {}: {} is {}, expected {} … {}{}{}", source,
                      source.empty() ? "" : " ", row, input, found.value,
                      check.minimum(), check.maximum(), what,
                      placeOf(check, tables))};
}

} // namespace mg
