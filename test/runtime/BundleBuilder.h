// Makes bundle files for tests: lays out regions, packs tables, adds blobs and
// header. Nothing is checked, so that wrong bundles can be made too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/schema/Header.h"
#include "runtime/schema/bundle_generated.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mg::test {

using Bytes = std::vector<std::byte>;

class BundleBuilder {
public:
  explicit BundleBuilder(std::vector<uint32_t> units);

  schema::BundleT tables;
  Bytes constants;
  std::vector<Bytes> images;       // one a target
  std::vector<schema::Grid> grids; // one a kernel, for all targets

  /// Room for `bytes` at the next multiple of 64.
  schema::Range state(uint64_t bytes);
  schema::Range arena(uint64_t bytes);
  /// An array in the state region.
  std::unique_ptr<schema::ArrayT> array(std::string name, schema::DType dtype,
                                        std::vector<int64_t> shape);

  /// The index of the kernel, which is added when it is new; a kernel has one
  /// grid.
  uint32_t kernel(const std::string &name, schema::Grid grid);
  schema::EntryT &entry(schema::Role role, int owner, uint32_t unit);
  void launch(schema::EntryT &entry, const std::string &kernelName,
              schema::Grid grid, std::vector<schema::Range> bindings,
              std::vector<int64_t> scalars = {});
  void allReduce(schema::EntryT &entry, schema::Reduction reduction,
                 schema::DType dtype, schema::Range range);
  void copy(schema::EntryT &entry, schema::Range from, schema::Range to);
  void fill(schema::EntryT &entry, schema::Range to, uint8_t byte);
  void target(std::string cpu, std::vector<std::string> features, Bytes image);

  /// The file. `change` sees the tables when all offsets and checksums are in
  /// place.
  Bytes file(const std::function<void(schema::BundleT &)> &change = {}) const;

private:
  void add(schema::EntryT &entry, schema::OpUnion op);
};

schema::Range rangeOf(const schema::ArrayT &array);
schema::Range part(schema::Range range, uint64_t offset, uint64_t bytes);

/// Makes the checksums of a changed file right again.
void repairChecksums(Bytes &file);

/// A file of this content that goes with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(const Bytes &content);
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile();
  const std::string &path() const { return name; }

private:
  std::string name;
};

} // namespace mg::test
