// Matching of files with the model's inputs. Every error says what the model
// expects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/DataSet.h"

#include <algorithm>

namespace mg {
namespace {

using InputIndices = flatbuffers::Vector<uint32_t>;

size_t countOf(const InputIndices *inputs) {
  return inputs ? inputs->size() : 0;
}

const schema::Input &inputAt(const schema::Bundle &tables,
                             const InputIndices *inputs, size_t i) {
  return *tables.inputs()->Get(
      inputs->Get(static_cast<flatbuffers::uoffset_t>(i)));
}

std::string_view nameOf(const schema::Input &input) {
  return input.array()->name()->string_view();
}

std::string describe(const schema::Input &input) {
  return describeArray(input.array()->dtype(), shapeOf(*input.array()),
                       /*anyRows=*/true);
}

/// "image (?x28x28xui8), label (?xui8)"
std::string listInputs(const schema::Bundle &tables,
                       const InputIndices *inputs) {
  std::string text;
  for (size_t i = 0; i < countOf(inputs); ++i) {
    const schema::Input &input = inputAt(tables, inputs, i);
    text +=
        fmt::format("{}{} ({})", i ? ", " : "", nameOf(input), describe(input));
  }
  return text.empty() ? "none" : text;
}

Status checkNames(std::span<const DataSource> sources,
                  const schema::Bundle &tables, const InputIndices *inputs) {
  for (const DataSource &source : sources) {
    bool known = false;
    for (size_t i = 0; i < countOf(inputs); ++i)
      known |= nameOf(inputAt(tables, inputs, i)) == source.name;
    if (!known)
      return failure(Code::BadInput, "the model has no input '{}', it has {}",
                     source.name, listInputs(tables, inputs));
    const auto same = [&](const DataSource &other) {
      return other.name == source.name;
    };
    if (std::count_if(sources.begin(), sources.end(), same) > 1)
      return failure(Code::BadInput, "input '{}' is given twice", source.name);
  }
  return {};
}

Status checkArray(const InputArray &array, const schema::Input &input) {
  std::span<const int64_t> expected = shapeOf(*input.array());
  const bool sameRow = array.shape.size() == expected.size() &&
                       std::equal(array.shape.begin() + 1, array.shape.end(),
                                  expected.begin() + 1);
  if (array.dtype != input.array()->dtype() || !sameRow)
    return failure(Code::BadInput, "{}: input '{}' expects {}, found {}",
                   array.source, nameOf(input), describe(input),
                   describeArray(array.dtype, array.shape));
  if (array.rows() == 0)
    return failure(Code::BadInput, "{}: input '{}' has no rows", array.source,
                   nameOf(input));
  return {};
}

Expected<InputArray> openSource(const DataSource &source) {
  if (!source.array)
    return readArrayFile(source.path);
  return *source.array;
}

} // namespace

Expected<DataSet> DataSet::open(std::span<const DataSource> sources,
                                const schema::Bundle &tables,
                                const InputIndices *inputs) {
  MG_TRY(checkNames(sources, tables, inputs));
  DataSet set;
  for (size_t i = 0; i < countOf(inputs); ++i) {
    const schema::Input &input = inputAt(tables, inputs, i);
    const auto isThis = [&](const DataSource &source) {
      return source.name == nameOf(input);
    };
    const auto source = std::find_if(sources.begin(), sources.end(), isThis);
    if (source == sources.end())
      return failure(Code::BadInput,
                     "no data for input '{}', the model needs {}",
                     nameOf(input), listInputs(tables, inputs));
    MG_TRY_ASSIGN(array, openSource(*source));
    MG_TRY(checkArray(array, input));
    if (array.rows() != (i ? set.rows() : array.rows()))
      return failure(
          Code::BadInput, "{}: input '{}' has {} rows, but '{}' has {} ({})",
          array.source, nameOf(input), array.rows(),
          nameOf(inputAt(tables, inputs, 0)), set.rows(), set.arrays[0].source);
    set.arrays.push_back(std::move(array));
  }
  if (set.arrays.empty())
    return failure(Code::Unsupported,
                   "the model has no inputs, so there are no rows to go over");
  return set;
}

} // namespace mg
