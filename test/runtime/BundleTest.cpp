// A cut, changed or foreign file is one clear error: at every length, and for
// every byte of header and tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/ToyBundle.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace mg::test {
namespace {

/// The message of the error that this content gives, "" if it opens.
std::string errorOf(const Bytes &content, Code code = Code::BadInput) {
  TemporaryFile file(content);
  auto bundle = Bundle::open(file.path());
  if (bundle)
    return "";
  EXPECT_EQ(bundle.error().code, code);
  EXPECT_TRUE(bundle.error().message.starts_with(file.path() + ": "))
      << bundle.error().message;
  return bundle.error().message;
}

void expectError(const Bytes &content, const std::string &part) {
  std::string message = errorOf(content);
  EXPECT_NE(message.find(part), std::string::npos)
      << "no '" << part << "' in: " << message;
}

/// With a small image, so that trying every byte takes no time; nothing loads
/// it.
Bytes smallFile() {
  BundleBuilder builder = toyBundle({2});
  builder.images[0].assign(100, std::byte{1});
  return builder.file();
}

schema::Header headerOf(const Bytes &file) {
  schema::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

Bytes withHeader(Bytes file,
                 const std::function<void(schema::Header &)> &change) {
  schema::Header header = headerOf(file);
  change(header);
  std::memcpy(file.data(), &header, sizeof header);
  repairChecksums(file);
  return file;
}

TEST(Bundle, AGoodFileOpens) {
  TemporaryFile file(toyBundle({2, 4}).file());
  auto bundle = Bundle::open(file.path());
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ((*bundle)->tables().name()->str(), "toy");
  EXPECT_EQ(
      (*bundle)->blob(*(*bundle)->tables().targets()->Get(0)->image()).size(),
      toyImage().size());
}

TEST(Bundle, AMissingFileIsTheSystemsError) {
  auto bundle = Bundle::open("/nonexistent/model.mgb");
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().code, Code::Io);
  EXPECT_EQ(bundle.error().message,
            "/nonexistent/model.mgb: cannot open: No such file or directory");
  EXPECT_FALSE(Bundle::open("/tmp"));
}

TEST(Bundle, AFileCutAnywhereIsRefused) {
  Bytes file = smallFile();
  for (size_t length = 0; length < file.size();
       length += length < 8192 ? 1 : 61)
    ASSERT_NE(
        errorOf(Bytes(file.begin(),
                      file.begin() + static_cast<std::ptrdiff_t>(length))),
        "")
        << length;
  file.push_back(std::byte{0});
  expectError(file, "damaged");
}

TEST(Bundle, AnyChangedByteIsFound) {
  Bytes file = smallFile();
  uint64_t tableEnd = sizeof(schema::Header) + headerOf(file).tableBytes;
  for (size_t at = 0; at < tableEnd; ++at) {
    Bytes changed = file;
    changed[at] ^= std::byte(1u << at % 8);
    ASSERT_NE(errorOf(changed), "") << "byte " << at;
  }
  file.back() ^= std::byte{1};
  expectError(file, "image of target 0: checksum");
}

// With right checksums the checks behind them are on their own. Most changes
// are errors, some make another good bundle; none may crash (the sanitizers'
// build runs this too).
TEST(Bundle, AnyChangedByteBehindRightChecksumsDoesNotCrash) {
  Bytes file = smallFile();
  uint64_t tableEnd = sizeof(schema::Header) + headerOf(file).tableBytes;
  int refused = 0;
  for (size_t at = 8; at < tableEnd; ++at)
    for (std::byte value :
         {std::byte{0}, std::byte{0xff}, file[at] ^ std::byte{0x80},
          file[at] ^ std::byte{1}}) {
      Bytes changed = file;
      changed[at] = value;
      repairChecksums(changed);
      refused += errorOf(changed) != "";
    }
  EXPECT_GT(refused, static_cast<int>(tableEnd));
}

TEST(Bundle, AnotherFormatIsNamed) {
  Bytes text(200, std::byte{'#'});
  expectError(text, "not a bundle: it starts with 23 23 23 23 23 23 23 23, "
                    "expected 89 4d 47 42 0d 0a 1a 0a");
  expectError(Bytes(10),
              "10 bytes are too few for a bundle, whose header has 64");
}

TEST(Bundle, AnotherVersionNamesBoth) {
  Bytes file = smallFile();
  expectError(
      withHeader(file,
                 [](auto &header) {
                   header.major = 4;
                   header.minor = 7;
                 }),
      "bundle format 4.7, but this runtime reads 3.x; use a newer mg runtime");
  expectError(withHeader(file, [](auto &header) { header.major = 1; }),
              "bundle format 1.0, but this runtime reads 3.x; compile");
  EXPECT_EQ(errorOf(withHeader(file, [](auto &header) { header.minor = 9; })),
            "")
      << "a later minor version is fine";
}

TEST(Bundle, WrongSizesAreNamed) {
  Bytes file = smallFile();
  expectError(withHeader(file, [](auto &header) { header.fileBytes += 5; }),
              "the file was cut short");
  expectError(
      withHeader(file,
                 [](auto &header) { header.tableBytes = uint64_t(1) << 63; }),
      "do not fit in a file");
  expectError(withHeader(file, [](auto &header) { header.tableBytes = 4; }),
              "tables of 4 bytes");
}

TEST(Bundle, TablesOfAnotherKindAreRefused) {
  Bytes file = smallFile();
  std::memcpy(file.data() + sizeof(schema::Header) + 4, "XXXX", 4);
  repairChecksums(file);
  expectError(file, "not marked MGB0");
}

} // namespace
} // namespace mg::test
