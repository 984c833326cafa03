// Mapping and gzip. A gzip file may hold several members (RFC 1952, 2.2): they
// are one stream of bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/FileBytes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <zlib.h>

namespace mg {
namespace {

/// A growing malloc block: realloc tells of missing memory by a value,
/// std::vector only by an exception.
struct Buffer {
  std::byte *data = nullptr;
  size_t size = 0, capacity = 0;

  ~Buffer() { std::free(data); }
  bool grow(size_t newCapacity) {
    void *moved = std::realloc(data, newCapacity);
    if (!moved)
      return false;
    data = static_cast<std::byte *>(moved);
    capacity = newCapacity;
    return true;
  }
};

/// zlib's stream, ended on every path.
struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() {
    ready = inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;
  } // 16: gzip header and CRC
  ~Inflater() {
    if (ready)
      inflateEnd(&stream);
  }
};

bool isGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} &&
         bytes[1] == std::byte{0x8b};
}

/// The last four bytes of a gzip file give its size modulo 2^32: a hint, never
/// more than deflate can reach (1032:1).
size_t sizeHint(std::span<const std::byte> gzip) {
  uint32_t last = 0;
  if (gzip.size() >= 4)
    std::memcpy(&last, gzip.data() + gzip.size() - 4, 4);
  return std::clamp<size_t>(last, 4096,
                            std::max<size_t>(4096, gzip.size() * 1032));
}

constexpr size_t kChunk = size_t{1} << 30; // zlib counts in 32 bits

/// Inflates every member of `in` into `out`.
Status inflateAll(std::span<const std::byte> in, Buffer &out) {
  Inflater inflater;
  z_stream &stream = inflater.stream;
  if (!inflater.ready || !out.grow(sizeHint(in) + 1))
    return failure(Code::OutOfMemory, "no memory to inflate it");
  size_t used = 0;
  for (;;) {
    if (out.size == out.capacity && !out.grow(out.capacity + out.capacity / 2))
      return failure(Code::OutOfMemory,
                     "no memory to inflate it ({} bytes so far)", out.size);
    const size_t inChunk = std::min(in.size() - used, kChunk);
    const size_t outChunk = std::min(out.capacity - out.size, kChunk);
    stream.next_in =
        const_cast<Bytef *>(reinterpret_cast<const Bytef *>(in.data() + used));
    stream.avail_in = static_cast<uInt>(inChunk);
    stream.next_out = reinterpret_cast<Bytef *>(out.data + out.size);
    stream.avail_out = static_cast<uInt>(outChunk);
    const int result = inflate(&stream, Z_NO_FLUSH);
    used += inChunk - stream.avail_in;
    out.size += outChunk - stream.avail_out;
    if (result == Z_STREAM_END) {
      if (used == in.size())
        return {};
      if (!isGzip(in.subspan(used)))
        return failure(Code::BadInput,
                       "{} bytes after the end of the gzip data",
                       in.size() - used);
      inflateReset(&stream);
      continue;
    }
    if (result == Z_BUF_ERROR ||
        (result == Z_OK && used == in.size() && stream.avail_out != 0))
      return failure(
          Code::BadInput,
          "the gzip data ends too early: the file is truncated, get it again");
    if (result != Z_OK)
      return failure(Code::BadInput,
                     "the gzip data is damaged ({}), get it again",
                     stream.msg ? stream.msg : "zlib error");
  }
}

} // namespace

FileBytes::~FileBytes() { std::free(inflated); }

Status FileBytes::inflateMapped() {
  Buffer buffer;
  MG_TRY(inflateAll(mapped->bytes(), buffer));
  mapped.reset();
  inflated = std::exchange(buffer.data, nullptr);
  data = {inflated, buffer.size};
  if (data.empty())
    return failure(Code::BadInput, "the gzip file holds no bytes");
  return {};
}

Expected<std::shared_ptr<const FileBytes>>
FileBytes::open(const std::string &path) {
  MG_TRY_ASSIGN(opened, MappedFile::open(path));
  std::shared_ptr<FileBytes> file(new FileBytes);
  file->mapped = std::move(opened);
  file->data = file->mapped->bytes();
  if (file->data.empty())
    return failure(Code::BadInput, "{}: the file is empty", path);
  if (isGzip(file->data))
    if (Status status = file->inflateMapped(); !status)
      return tl::unexpected<Error>(std::move(status).error().in(path));
  return std::shared_ptr<const FileBytes>(std::move(file));
}

} // namespace mg
