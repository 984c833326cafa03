// Named arrays with one row count, in the order in which a bundle's train or
// predict wants its inputs. Which rows are read in what order is
// runtime/train's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/ArrayFile.h"

#include <optional>

namespace mg {

/// What the user gave for one input: a file, or an array in memory.
struct DataSource {
  std::string name;
  std::string path;
  std::optional<InputArray> array; // instead of `path`
};

class DataSet {
public:
  /// Opens every source and matches it against `inputs` (indices into
  /// tables.inputs()). Errors: as readArrayFile; BadInput for names that the
  /// model lacks or that are missing, types, row shapes and row counts that
  /// differ.
  static Expected<DataSet> open(std::span<const DataSource> sources,
                                const schema::Bundle &tables,
                                const flatbuffers::Vector<uint32_t> *inputs);

  int64_t rows() const { return arrays.empty() ? 0 : arrays[0].rows(); }
  size_t inputCount() const { return arrays.size(); }
  const InputArray &array(size_t input) const { return arrays[input]; }

private:
  std::vector<InputArray> arrays; // one an input, in the model's order
};

/// Consecutive rows of a data set: all of it, or a side of the validation
/// split.
struct DataView {
  const DataSet *set = nullptr;
  int64_t first = 0;
  int64_t rows = 0;

  explicit operator bool() const { return set != nullptr; }
  static DataView all(const DataSet &set) { return {&set, 0, set.rows()}; }
};

} // namespace mg
