// Data and state files: IDX, .npy, gzip of them, safetensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/data/ArrayFile.h"
#include "test/fuzz/Fuzz.h"

#include <cstring>

namespace mg::test {

static Bytes bytesOf(std::string_view text) {
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return Bytes(begin, begin + text.size());
}

static Bytes npy(std::string header, size_t dataBytes) {
  header.resize(117, ' ');
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  return bytesOf(file + header + "\n" + std::string(dataBytes, '\1'));
}

static Bytes safetensors(const std::string &header, size_t dataBytes) {
  const uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return bytesOf(file + header + std::string(dataBytes, '\2'));
}

std::vector<Bytes> fuzzSeeds() {
  using namespace std::string_literals;
  return {
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24),
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (4,), }", 4),
      bytesOf("\0\0\x08\x02\0\0\0\x02\0\0\0\x03"s + "abcdef"),
      bytesOf("\0\0\x0d\x01\0\0\0\x02"s + "abcdefgh"),
      // gzip of an IDX file with the bytes 7, 8, 9 (RFC 1952, stored block)
      bytesOf("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x0b\0\xf4\xff"s +
              "\0\0\x08\x01\0\0\0\x03\x07\x08\x09"s +
              "\xad\x98\x0a\xba\x0b\0\0\0"s),
      safetensors(R"({"__metadata__":{"step":"3","rate":"0.5"},)"
                  R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                  R"("b":{"dtype":"F64","shape":[],"data_offsets":[24,32]}})",
                  32),
  };
}

bool accepts(const Bytes &content) {
  const TemporaryFile file(content);
  if (auto state = SafetensorsFile::open(file.path())) {
    (void)state->number("step", 0);
    (void)state->real("rate");
    return true;
  }
  return readArrayFile(file.path()).has_value();
}

} // namespace mg::test
