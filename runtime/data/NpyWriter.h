// Writes a .npy file of known shape row by row, in any order and from any
// thread; complete or not there at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/AtomicFile.h"
#include "runtime/data/ElementType.h"

namespace mg {

class NpyWriter {
public:
  /// Errors: Io, Unsupported (an element type that .npy cannot say).
  static Expected<NpyWriter> create(const std::string &path,
                                    schema::DType dtype,
                                    std::span<const int64_t> shape);

  /// Writes whole rows from row `first` on. Threads may call it at once for
  /// different rows. Errors: Io.
  Status writeRows(int64_t first, std::span<const std::byte> rows);

  /// Makes the file appear under its name. Errors: Io.
  Status commit() { return file.commit(); }

private:
  NpyWriter(AtomicFile opened, uint64_t start, uint64_t bytes)
      : file(std::move(opened)), dataStart(start), rowBytes(bytes) {}

  AtomicFile file;
  uint64_t dataStart, rowBytes;
};

/// The header of a version 1 .npy file, padded so that data starts at a
/// multiple of 64.
std::string npyHeader(std::string_view descr, std::span<const int64_t> shape);

} // namespace mg
