// The .npy format, versions 1 to 3 (NumPy Enhancement Proposal 1): magic,
// version, header length, a Python dict with descr, fortran_order and shape,
// then the elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/ArrayFile.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace mg {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the header's dict, the small subset of Python literals that NumPy
/// writes.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : rest(text) {}

  struct Header {
    std::string descr;
    bool fortranOrder = false;
    std::vector<int64_t> shape;
  };

  std::optional<Header> read() {
    Header header;
    unsigned seen = 0;
    if (!take('{'))
      return std::nullopt;
    while (!take('}')) {
      std::optional<std::string> key = quoted();
      if (!key || !take(':'))
        return std::nullopt;
      const unsigned bit = readValue(*key, header);
      if (bit == 0 || (seen & bit))
        return std::nullopt;
      seen |= bit;
      if (!take(','))
        return take('}') && seen == 7 ? std::optional(header) : std::nullopt;
    }
    return seen == 7 ? std::optional(header) : std::nullopt;
  }

private:
  /// Reads the value of `key` into `header`; returns the key's bit, 0 if it is
  /// not as expected.
  unsigned readValue(const std::string &key, Header &header) {
    if (key == "descr") {
      std::optional<std::string> descr = quoted();
      header.descr = descr.value_or("");
      return descr ? 1 : 0;
    }
    if (key == "fortran_order") {
      header.fortranOrder = takeWord("True");
      return header.fortranOrder || takeWord("False") ? 2 : 0;
    }
    return key == "shape" && readShape(header.shape) ? 4 : 0;
  }

  bool readShape(std::vector<int64_t> &shape) {
    if (!take('('))
      return false;
    while (!take(')')) {
      std::optional<int64_t> size = integer();
      if (!size)
        return false;
      shape.push_back(*size);
      if (!take(','))
        return take(')');
    }
    return true;
  }

  void skipSpace() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\n'))
      rest.remove_prefix(1);
  }
  bool take(char c) {
    skipSpace();
    if (rest.empty() || rest.front() != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    const size_t end = quote ? rest.find(quote) : std::string_view::npos;
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return text;
  }
  std::optional<int64_t> integer() {
    skipSpace();
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9';
         ++digits)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, rest[digits] - '0', &value))
        return std::nullopt;
    rest.remove_prefix(digits);
    return digits ? std::optional(value) : std::nullopt;
  }

  std::string_view rest;
};

struct Parts {
  std::string_view header;
  std::span<const std::byte> data;
};

Expected<Parts> split(std::span<const std::byte> bytes) {
  const unsigned major = static_cast<unsigned>(bytes[6]);
  if (major < 1 || major > 3)
    return failure(Code::BadInput,
                   ".npy version {} is unknown, expected 1, 2 or 3", major);
  const size_t lengthBytes = major == 1 ? 2 : 4;
  const size_t start = 8 + lengthBytes;
  uint32_t length = 0;
  if (bytes.size() >= start)
    std::memcpy(&length, bytes.data() + 8, lengthBytes);
  if (bytes.size() < start || bytes.size() - start < length)
    return failure(Code::BadInput,
                   "the .npy header is cut off: found {} bytes, expected {}",
                   bytes.size(), start + length);
  return Parts{{reinterpret_cast<const char *>(bytes.data()) + start, length},
               bytes.subspan(start + length)};
}

Expected<schema::DType> readType(const std::string &descr) {
  if (const ElementType *type = elementTypeOfNpy(descr))
    return type->dtype;
  if (descr.starts_with(">"))
    return failure(Code::BadInput,
                   "elements are big-endian ({}), expected little-endian: save "
                   "array.astype('<{}')",
                   descr, descr.substr(1));
  return failure(Code::BadInput,
                 "element type '{}' is not supported, expected a number or "
                 "bool such as '<f4' or '|u1'",
                 descr);
}

} // namespace

bool looksLikeNpy(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Expected<InputArray> parseNpy(std::span<const std::byte> bytes) {
  MG_TRY_ASSIGN(parts, split(bytes));
  std::optional<HeaderReader::Header> header =
      HeaderReader(parts.header).read();
  if (!header)
    return failure(Code::BadInput, "the .npy header is not a plain array's "
                                   "(structured and object arrays are not "
                                   "supported)");
  MG_TRY_ASSIGN(dtype, readType(header->descr));
  if (header->fortranOrder && header->shape.size() > 1)
    return failure(Code::BadInput, "elements are in Fortran order, expected C "
                                   "order: save numpy.ascontiguousarray");
  if (header->shape.empty())
    return failure(Code::BadInput, "the array has rank 0, expected rows");
  InputArray array;
  array.dtype = dtype;
  array.shape = header->shape;
  array.data = parts.data;
  const int64_t expected = bytesOf(array.shape, elementType(dtype).bytes);
  if (expected < 0 || static_cast<uint64_t>(expected) != array.data.size())
    return failure(Code::BadInput,
                   "{} takes {} bytes of data, found {}: the file is damaged, "
                   "save it again",
                   describeArray(array.dtype, array.shape), expected,
                   array.data.size());
  return array;
}

} // namespace mg
