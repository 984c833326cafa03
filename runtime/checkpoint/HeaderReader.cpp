// {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [0, 24]}}
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/HeaderReader.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace mg {
namespace {

/// RapidJSON's handler: each event returns whether it may come here.
class Handler
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
public:
  explicit Handler(Header &result) : header(result) {}

  bool Default() { return false; } // null, true, a fraction: nowhere
  bool StartObject() {
    if (place == Place::Outside) {
      place = Place::Header;
      return true;
    }
    if (place != Place::Header)
      return false;
    place = key == "__metadata__" ? Place::Metadata : Place::Entry;
    if (place == Place::Entry)
      header.entries.push_back({key, {}, {}, {}});
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    place = place == Place::Header ? Place::Outside : Place::Header;
    return true;
  }
  bool Key(const char *text, rapidjson::SizeType length, bool) {
    key.assign(text, length);
    return true;
  }
  bool String(const char *text, rapidjson::SizeType length, bool) {
    if (place == Place::Metadata)
      header.metadata[key].assign(text, length);
    else if (place == Place::Entry && key == "dtype")
      header.entries.back().dtype.assign(text, length);
    else
      return false;
    return true;
  }
  bool StartArray() {
    if (place != Place::Entry || (key != "shape" && key != "data_offsets"))
      return false;
    place = Place::Numbers;
    numbers = key == "shape" ? &header.entries.back().shape
                             : &header.entries.back().offsets;
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    place = Place::Entry;
    return true;
  }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Uint64(uint64_t value) {
    if (place != Place::Numbers)
      return false;
    numbers->push_back(value);
    return true;
  }

private:
  enum class Place { Outside, Header, Metadata, Entry, Numbers };
  Place place = Place::Outside;
  std::string key;
  std::vector<uint64_t> *numbers = nullptr;
  Header &header;
};

} // namespace

Expected<Header> readHeader(std::string_view json) {
  Header header;
  Handler handler(header);
  rapidjson::MemoryStream stream(json.data(), json.size());
  rapidjson::Reader reader;
  // Iterative: a hostile depth of brackets must not use up the stack.
  const auto result =
      reader.Parse<rapidjson::kParseIterativeFlag |
                   rapidjson::kParseValidateEncodingFlag>(stream, handler);
  if (result)
    return header;
  if (result.Code() == rapidjson::kParseErrorTermination)
    return failure(
        Code::BadInput,
        "the header is no safetensors header (something unexpected at byte {})",
        result.Offset() + 8);
  return failure(Code::BadInput, "the header is not JSON ({} at byte {})",
                 rapidjson::GetParseError_En(result.Code()),
                 result.Offset() + 8);
}

} // namespace mg
