// Chooses the parser by content.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/ArrayFile.h"
#include "runtime/data/FileBytes.h"

namespace mg {

static std::string firstBytes(std::span<const std::byte> bytes) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 4); ++i)
    text +=
        fmt::format("{}{:02x}", i ? " " : "", static_cast<unsigned>(bytes[i]));
  return text;
}

static Expected<InputArray> parse(std::span<const std::byte> bytes) {
  if (looksLikeNpy(bytes))
    return parseNpy(bytes);
  if (looksLikeIdx(bytes))
    return parseIdx(bytes);
  if (bytes.size() >= 2 && bytes[0] == std::byte{'P'} &&
      bytes[1] == std::byte{'K'})
    return failure(
        Code::BadInput,
        "a zip or .npz file: save each array as a .npy file of its own");
  return failure(Code::BadInput,
                 "neither IDX nor .npy: it begins with {}, expected 00 00 "
                 "(IDX) or 93 4e 55 4d (.npy)",
                 firstBytes(bytes));
}

Expected<InputArray> readArrayFile(const std::string &path) {
  MG_TRY_ASSIGN(file, FileBytes::open(path));
  Expected<InputArray> array = parse(file->bytes());
  if (!array)
    return tl::unexpected<Error>(std::move(array).error().in(path));
  array->source = path;
  if (!array->owner)
    array->owner = file;
  return array;
}

} // namespace mg
