// Writer and checking reader. Offsets in the header count from the end of the
// header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/checkpoint/HeaderReader.h"
#include "runtime/data/AtomicFile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <zlib.h>

namespace mg {
namespace {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void putString(JsonWriter &json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void putTensor(JsonWriter &json, const Tensor &tensor, uint64_t begin) {
  putString(json, tensor.name);
  json.StartObject();
  json.Key("dtype");
  putString(json, elementType(tensor.dtype).safetensors);
  json.Key("shape");
  json.StartArray();
  for (int64_t size : tensor.shape)
    json.Int64(size);
  json.EndArray();
  json.Key("data_offsets");
  json.StartArray();
  json.Uint64(begin);
  json.Uint64(begin + tensor.data.size());
  json.EndArray();
  json.EndObject();
}

std::string headerOf(std::span<const Tensor> tensors,
                     const Metadata &metadata) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.StartObject();
  json.Key("__metadata__");
  json.StartObject();
  for (const auto &[key, value] : metadata) {
    putString(json, key);
    putString(json, value);
  }
  json.EndObject();
  uint64_t begin = 0;
  for (const Tensor &tensor : tensors) {
    putTensor(json, tensor, begin);
    begin += tensor.data.size();
  }
  json.EndObject();
  std::string header(buffer.GetString(), buffer.GetSize());
  header.append((8 - header.size() % 8) % 8, ' '); // data starts aligned
  return header;
}

uint32_t checksum(uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(
      crc, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

struct Placed {
  Tensor tensor; // its data is set once the layout is known to fit
  uint64_t begin, bytes;
};

/// Checks one entry by itself.
Expected<Placed> readTensor(const HeaderEntry &entry) {
  const ElementType *type = elementTypeOfSafetensors(entry.dtype);
  if (!type)
    return failure(Code::BadInput, "tensor '{}' has the unknown dtype '{}'",
                   entry.name, entry.dtype);
  if (entry.offsets.size() != 2)
    return failure(Code::BadInput,
                   "tensor '{}' has {} data_offsets, expected 2", entry.name,
                   entry.offsets.size());
  Tensor tensor{entry.name, type->dtype, {}, {}};
  for (uint64_t size : entry.shape)
    tensor.shape.push_back(
        static_cast<int64_t>(size)); // beyond 2^63: negative, so refused below
  const int64_t expected = bytesOf(tensor.shape, type->bytes);
  const uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  if (expected < 0 || end < begin ||
      end - begin != static_cast<uint64_t>(expected))
    return failure(
        Code::BadInput,
        "tensor '{}' ({}) takes {} bytes, its data_offsets are {} and {}",
        entry.name, describeArray(type->dtype, tensor.shape), expected, begin,
        end);
  return Placed{std::move(tensor), begin, end - begin};
}

/// Tensors fill the data section without gap or overlap, and it is undamaged.
Status checkLayout(std::vector<const Placed *> tensors,
                   std::span<const std::byte> data) {
  std::sort(
      tensors.begin(), tensors.end(), [](const Placed *a, const Placed *b) {
        return std::pair(a->begin, a->bytes) < std::pair(b->begin, b->bytes);
      });
  uint64_t end = 0;
  for (const Placed *placed : tensors) {
    if (placed->begin != end)
      return failure(Code::BadInput,
                     "tensor '{}' starts at data byte {}, expected {}",
                     placed->tensor.name, placed->begin, end);
    if (placed->bytes > data.size() - end)
      return failure(Code::BadInput,
                     "the file is cut off: '{}' ends at data byte {}, found {}",
                     placed->tensor.name, end + placed->bytes, data.size());
    end += placed->bytes;
  }
  if (end != data.size())
    return failure(Code::BadInput, "{} bytes after the last tensor",
                   data.size() - end);
  return {};
}

Status checkSum(const Metadata &metadata, std::span<const std::byte> data) {
  const auto expected = metadata.find("crc32");
  if (expected == metadata.end())
    return {}; // written by another program
  const std::string found = fmt::format("{:08x}", checksum(0, data));
  if (expected->second != found)
    return failure(Code::BadInput,
                   "the data is damaged: checksum {}, expected {}", found,
                   expected->second);
  return {};
}

} // namespace

Status writeSafetensors(const std::string &path,
                        std::span<const Tensor> tensors, Metadata metadata) {
  uint32_t crc = 0;
  for (const Tensor &tensor : tensors)
    crc = checksum(crc, tensor.data);
  metadata["crc32"] = fmt::format("{:08x}", crc);
  const std::string header = headerOf(tensors, metadata);
  const uint64_t length = header.size();
  MG_TRY_ASSIGN(file, AtomicFile::create(path));
  MG_TRY(file.writeAt(0, std::as_bytes(std::span(&length, 1))));
  MG_TRY(file.writeAt(8, std::as_bytes(std::span(header))));
  uint64_t offset = 8 + header.size();
  for (const Tensor &tensor : tensors) {
    MG_TRY(file.writeAt(offset, tensor.data));
    offset += tensor.data.size();
  }
  return file.commit();
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SafetensorsFile result;
  MG_TRY_ASSIGN(bytes, FileBytes::open(path));
  result.file = bytes;
  if (Status status = result.read(bytes->bytes()); !status)
    return tl::unexpected<Error>(std::move(status).error().in(path));
  return result;
}

Status SafetensorsFile::read(std::span<const std::byte> bytes) {
  uint64_t length = 0;
  if (bytes.size() < 8)
    return failure(
        Code::BadInput,
        "not a safetensors file: found {} bytes, expected at least 8",
        bytes.size());
  std::memcpy(&length, bytes.data(), 8);
  if (length > bytes.size() - 8)
    return failure(Code::BadInput,
                   "not a safetensors file, or cut off: the header takes {} "
                   "bytes, found {}",
                   length, bytes.size() - 8);
  const std::span<const std::byte> data = bytes.subspan(8 + length);
  MG_TRY_ASSIGN(
      header,
      readHeader({reinterpret_cast<const char *>(bytes.data()) + 8, length}));
  return place(header, data);
}

Status SafetensorsFile::place(Header &header, std::span<const std::byte> data) {
  std::vector<Placed> placed;
  std::vector<const Placed *> order;
  for (const HeaderEntry &entry : header.entries) {
    MG_TRY_ASSIGN(tensor, readTensor(entry));
    placed.push_back(std::move(tensor));
  }
  for (const Placed &tensor : placed)
    order.push_back(&tensor);
  MG_TRY(checkLayout(std::move(order), data));
  MG_TRY(checkSum(header.metadata, data));
  values = std::move(header.metadata);
  for (Placed &tensor : placed) {
    if (find(tensor.tensor.name))
      return failure(Code::BadInput, "tensor '{}' is there twice",
                     tensor.tensor.name);
    tensor.tensor.data = data.subspan(tensor.begin, tensor.bytes);
    entries.push_back(std::move(tensor.tensor));
  }
  return {};
}

const Tensor *SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&](const Tensor &t) { return t.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

int64_t SafetensorsFile::number(const std::string &key,
                                int64_t otherwise) const {
  const auto found = values.find(key);
  if (found == values.end() || found->second.empty())
    return otherwise;
  char *end = nullptr;
  const int64_t value =
      static_cast<int64_t>(std::strtoull(found->second.c_str(), &end, 10));
  return *end == '\0' ? value : otherwise;
}

std::optional<double> SafetensorsFile::real(const std::string &key) const {
  const auto found = values.find(key);
  if (found == values.end() || found->second.empty())
    return std::nullopt;
  char *end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value))
    return std::nullopt;
  return value;
}

} // namespace mg
