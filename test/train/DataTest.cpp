// Input files: IDX and .npy, plain and gzip'd, good and damaged; matching with
// a model's inputs; the .npy writer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/DataSet.h"
#include "runtime/data/NpyWriter.h"
#include "test/train/FakeSession.h"
#include "test/train/TestFiles.h"

#include <cstring>
#include <gtest/gtest.h>
#include <zlib.h>

namespace mg::test {
namespace {

using namespace std::string_literals;

std::string gzip(const std::string &text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string npy(const std::string &dict, const std::string &data,
                char major = 1) {
  std::string text =
      "\x93NUMPY"s + major + '\0' + static_cast<char>(dict.size()) + '\0';
  if (major > 1)
    text += "\0\0"s;
  return text + dict + data;
}

std::string plainNpy(const std::string &descr, const std::string &shape,
                     const std::string &data) {
  return npy("{'descr': '" + descr +
                 "', 'fortran_order': False, 'shape': " + shape + ", }\n",
             data);
}

const std::string kIdx = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
                         "abcdef"s; // 2x3 ui8

/// Reads `content` from a file.
Expected<InputArray> read(const std::string &content) {
  static const TestFolder folder;
  return readArrayFile(folder.write("array", content));
}

std::string errorOf(const std::string &content) {
  const Expected<InputArray> array = read(content);
  return array ? "no error" : array.error().message;
}

std::string textOf(const InputArray &array) {
  return {reinterpret_cast<const char *>(array.data.data()), array.data.size()};
}

TEST(Idx, Bytes) {
  const Expected<InputArray> array = read(kIdx);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->dtype, schema::DType::U8);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array->rowBytes(), 3);
  EXPECT_EQ(textOf(*array), "abcdef");
}

TEST(Idx, Gzip) {
  const Expected<InputArray> array = read(gzip(kIdx));
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(textOf(*array), "abcdef");
}

TEST(Idx, GzipOfSeveralMembers) {
  const Expected<InputArray> array =
      read(gzip(kIdx.substr(0, 7)) + gzip(kIdx.substr(7)));
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(textOf(*array), "abcdef");
}

TEST(Idx, BigEndianElementsAreTurned) {
  const Expected<InputArray> array =
      read("\0\0\x0c\x01\0\0\0\x02\0\0\x01\x02\xff\xff\xff\xfe"s);
  ASSERT_TRUE(array) << array.error().message;
  int32_t values[2];
  std::memcpy(values, array->data.data(), 8);
  EXPECT_EQ(values[0], 258);
  EXPECT_EQ(values[1], -2);
}

TEST(Idx, EveryTruncationIsOneError) {
  for (size_t size = 0; size < kIdx.size(); ++size)
    EXPECT_NE(errorOf(kIdx.substr(0, size)), "no error") << size;
}

TEST(Gzip, EveryTruncationIsOneError) {
  const std::string file = gzip(kIdx);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(errorOf(file.substr(0, size)), "no error") << size;
}

TEST(Npy, AllVersions) {
  const std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  for (char major : {'\1', '\2', '\3'}) {
    const Expected<InputArray> array = read(npy(dict, "12345678", major));
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->dtype, schema::DType::F32);
    EXPECT_EQ(array->shape, std::vector<int64_t>{2});
    EXPECT_EQ(textOf(*array), "12345678");
  }
}

TEST(Npy, KeysInAnyOrder) {
  EXPECT_TRUE(read(
      npy("{\"shape\": (1, 2), \"descr\": \"|u1\", \"fortran_order\": False}",
          "ab")));
}

struct BadFile {
  std::string content, error; // a part of the message
};

TEST(ArrayFile, DamageIsNamed) {
  const std::string zipped = gzip(kIdx);
  std::string flipped = zipped;
  flipped[flipped.size() - 6] =
      static_cast<char>(flipped[flipped.size() - 6] ^ 1); // in the CRC
  const BadFile cases[] = {
      {"", "the file is empty"},
      {"hello world", "neither IDX nor .npy: it begins with 68 65 6c 6c"},
      {"PK\3\4 and so on", "a zip or .npz file"},
      {kIdx + "x", "2x3xui8 takes 6 bytes of data, found 7"},
      {kIdx.substr(0, 17), "2x3xui8 takes 6 bytes of data, found 5"},
      {"\0\0\x07\x01\0\0\0\0"s, "IDX type 0x07 is unknown"},
      {"\0\0\x08\0"s, "rank 0"},
      {"\0\0\x0e\xff"s + std::string(4 * 255, '\xff'),
       "bytes of data, found 0"}, // sizes overflow
      {zipped.substr(0, zipped.size() - 9), "truncated"},
      {flipped, "damaged"},
      {zipped + "tail", "4 bytes after the end of the gzip data"},
      {plainNpy("<f4", "(2,)", "1234567"),
       "2xf32 takes 8 bytes of data, found 7"},
      {plainNpy("<f4", "(2,)", "123456789"),
       "2xf32 takes 8 bytes of data, found 9"},
      {plainNpy(">f4", "(2,)", "12345678"), "save array.astype('<f4')"},
      {plainNpy("<c8", "(1,)", "12345678"),
       "element type '<c8' is not supported"},
      {plainNpy("<f4", "()", "1234"), "rank 0"},
      {plainNpy("<f8", "(4611686018427387904, 4)", ""),
       "bytes of data"}, // overflows
      {plainNpy("<f8", "(99999999999999999999,)", ""), "header"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }",
           "1234"),
       "ascontiguousarray"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
           "1234"),
       "structured"},
      {npy("{'descr': '<f4', 'shape': (1,), }", "1234"), "header"},
      {npy("{", ""), "header"},
      {"\x93NUMPY\7\0{}"s, "version 7 is unknown"},
      {"\x93NUMPY\1\0\xff\xff{}"s, "cut off"},
  };
  for (const BadFile &c : cases)
    EXPECT_NE(errorOf(c.content).find(c.error), std::string::npos)
        << c.error << " in: " << errorOf(c.content);
}

TEST(ArrayFile, MessagesNameTheFile) {
  const Expected<InputArray> array = readArrayFile("no/such/file.npy");
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code, Code::Io);
  EXPECT_TRUE(
      array.error().message.starts_with("no/such/file.npy: cannot open"))
      << array.error().message;
}

std::string matchError(std::vector<DataSource> sources) {
  const FakeSession session({4}, 1);
  const schema::Bundle &tables = session.bundle().tables();
  const Expected<DataSet> set =
      DataSet::open(sources, tables, tables.trains()->Get(0)->inputs());
  return set ? "no error" : set.error().message;
}

InputArray int64Rows(std::vector<int64_t> shape,
                     const std::vector<std::byte> &bytes) {
  return {schema::DType::I64, std::move(shape), bytes, nullptr, "a.npy"};
}

TEST(DataSet, SaysWhatTheModelExpects) {
  const std::vector<std::byte> bytes(16);
  const InputArray good = int64Rows({2}, bytes);
  InputArray floats = good;
  floats.dtype = schema::DType::F64;
  EXPECT_EQ(matchError({{"row", "", good}}), "no error");
  EXPECT_EQ(matchError({{"image", "", good}}),
            "the model has no input 'image', it has row (?xi64)");
  EXPECT_EQ(matchError({}),
            "no data for input 'row', the model needs row (?xi64)");
  EXPECT_EQ(matchError({{"row", "", good}, {"row", "", good}}),
            "input 'row' is given twice");
  EXPECT_EQ(matchError({{"row", "", floats}}),
            "a.npy: input 'row' expects ?xi64, found 2xf64");
  EXPECT_EQ(matchError({{"row", "", int64Rows({1, 2}, bytes)}}),
            "a.npy: input 'row' expects ?xi64, found 1x2xi64");
  EXPECT_EQ(matchError({{"row", "", int64Rows({0}, {})}}),
            "a.npy: input 'row' has no rows");
}

TEST(NpyWriter, ReadsBackWhateverTheOrderOfRows) {
  const TestFolder folder;
  const std::string path = folder.at("out.npy");
  const int64_t shape[] = {3, 2};
  Expected<NpyWriter> writer =
      NpyWriter::create(path, schema::DType::U8, shape);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->writeRows(1, std::as_bytes(std::span("cdef", 4))));
  ASSERT_TRUE(writer->writeRows(0, std::as_bytes(std::span("ab", 2))));
  EXPECT_FALSE(std::filesystem::exists(path)); // not before it is complete
  ASSERT_TRUE(writer->commit());
  const Expected<InputArray> array = readArrayFile(path);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(textOf(*array), "abcdef");
  EXPECT_EQ(readFile(path).size() % 64, 6u); // data starts at a multiple of 64
}

TEST(NpyWriter, LeavesNothingBehindUnlessCommitted) {
  const TestFolder folder;
  const int64_t shape[] = {1};
  {
    Expected<NpyWriter> writer =
        NpyWriter::create(folder.at("out.npy"), schema::DType::U8, shape);
    ASSERT_TRUE(writer);
  }
  EXPECT_EQ(folder.fileCount(), 0u);
}

} // namespace
} // namespace mg::test
