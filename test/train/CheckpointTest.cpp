// Saving and loading state: any device count, and every kind of damaged or
// foreign file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Safetensors.h"
#include "test/train/FakeSession.h"
#include "test/train/TestFiles.h"

#include <cstring>
#include <gtest/gtest.h>

namespace mg::test {
namespace {

const schema::Array &variable(Session &session) {
  return *session.bundle().tables().variables()->Get(0)->array();
}
const schema::Array &slot(Session &session) {
  return *session.bundle().tables().slots()->Get(0)->array();
}

void put(Session &session, const schema::Array &array, float a, float b) {
  const float values[] = {a, b};
  for (int device = 0; device < session.deviceCount(); ++device)
    std::memcpy(session.state(device, array).data(), values, sizeof values);
}

std::vector<float> get(Session &session, int device,
                       const schema::Array &array) {
  std::vector<float> values(2);
  std::memcpy(values.data(), session.state(device, array).data(), 8);
  return values;
}

/// A file as `saveCheckpoint` writes it.
std::string savedFile(const TestFolder &folder) {
  FakeSession session({2}, 4);
  put(session, variable(session), 1, 2);
  put(session, slot(session), 3, 4);
  session.setStepCount(17);
  session.setSeed(0xffffffffffffffff);
  const std::string path = folder.at("state.safetensors");
  EXPECT_TRUE(saveCheckpoint(session, path, {2, 30}));
  return path;
}

TEST(Checkpoint, R30_SavedOnFourDevicesLoadsOnAnyNumber) {
  const TestFolder folder;
  const std::string path = savedFile(folder);
  for (int devices : {1, 2, 3}) {
    FakeSession session({2}, devices);
    const Expected<LoadedCheckpoint> loaded =
        loadCheckpoint(session, path, LoadScope::All);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->hasSlots);
    EXPECT_EQ(loaded->position.epoch, 2);
    EXPECT_EQ(loaded->position.row, 30);
    EXPECT_EQ(session.stepCount(), 17);
    EXPECT_EQ(session.seed(), 0xffffffffffffffff);
    for (int device = 0; device < devices; ++device) {
      EXPECT_EQ(get(session, device, variable(session)),
                (std::vector<float>{1, 2}));
      EXPECT_EQ(get(session, device, slot(session)),
                (std::vector<float>{3, 4}));
    }
  }
}

TEST(Checkpoint, SavingReplacesTheFileAndLeavesNoOther) {
  const TestFolder folder;
  folder.write("state.safetensors", "old");
  savedFile(folder);
  EXPECT_EQ(folder.fileCount(), 1u);
}

TEST(Checkpoint, VariablesAloneLeaveSlotsAndStep) {
  const TestFolder folder;
  FakeSession session({2}, 1);
  ASSERT_TRUE(loadCheckpoint(session, savedFile(folder), LoadScope::Variables));
  EXPECT_EQ(get(session, 0, variable(session)), (std::vector<float>{1, 2}));
  EXPECT_EQ(get(session, 0, slot(session)), (std::vector<float>{0, 0}));
  EXPECT_EQ(session.stepCount(), 0);
}

Tensor tensor(const char *name, schema::DType dtype,
              std::vector<int64_t> shape) {
  static const std::byte zeros[64] = {};
  const size_t bytes =
      static_cast<size_t>(bytesOf(shape, elementType(dtype).bytes));
  return {name, dtype, std::move(shape), {zeros, bytes}};
}

/// What loading a file with these tensors says.
std::string loadError(const std::vector<Tensor> &tensors,
                      bool *hasSlots = nullptr) {
  const TestFolder folder;
  const std::string path = folder.at("f");
  EXPECT_TRUE(writeSafetensors(path, tensors, {}));
  FakeSession session({2}, 1);
  const Expected<LoadedCheckpoint> loaded =
      loadCheckpoint(session, path, LoadScope::All);
  if (loaded && hasSlots)
    *hasSlots = loaded->hasSlots;
  return loaded ? "no error" : loaded.error().message.substr(path.size());
}

TEST(Checkpoint, NamesWhatDoesNotFit) {
  using schema::DType;
  const Tensor w = tensor("w", DType::F32, {2}),
               m = tensor("m/w", DType::F32, {2});
  EXPECT_EQ(loadError({w, m}), "no error");
  EXPECT_EQ(loadError({m}), ": variable 'w' is missing, expected 2xf32");
  EXPECT_EQ(loadError({tensor("w", DType::F32, {3}), m}),
            ": 'w' is 3xf32, expected 2xf32");
  EXPECT_EQ(loadError({tensor("w", DType::F64, {2}), m}),
            ": 'w' is 2xf64, expected 2xf32");
  EXPECT_EQ(loadError({w, m, tensor("b", DType::F32, {1})}),
            ": the model has no variable 'b' (1xf32)");
}

TEST(Checkpoint, WeightsOnlyFileLeavesTheOptimizer) {
  bool hasSlots = true;
  EXPECT_EQ(loadError({tensor("w", schema::DType::F32, {2})}, &hasSlots),
            "no error");
  EXPECT_FALSE(hasSlots);
}

TEST(Safetensors, EveryTruncationAndEveryFlippedDataBitIsRefused) {
  const TestFolder folder;
  const std::string file = readFile(savedFile(folder));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(
        SafetensorsFile::open(folder.write("cut", file.substr(0, size))))
        << size;
  for (size_t at = file.size() - 16; at < file.size(); ++at) {
    std::string flipped = file;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    EXPECT_FALSE(SafetensorsFile::open(folder.write("flipped", flipped))) << at;
  }
}

TEST(Safetensors, FlippedHeaderBytesNeverCrash) {
  const TestFolder folder;
  const std::string file = readFile(savedFile(folder));
  for (size_t at = 0; at < file.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      FakeSession session({2}, 1);
      (void)loadCheckpoint(session, folder.write("flipped", flipped),
                           LoadScope::All);
    }
}

std::string withHeader(const std::string &json, const std::string &data) {
  const uint64_t length = json.size();
  std::string text(reinterpret_cast<const char *>(&length), 8);
  return text + json + data;
}

struct BadHeader {
  std::string file, error;
};

TEST(Safetensors, DamageIsNamed) {
  const std::string deep(100000, '[');
  const std::string a =
      R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const BadHeader cases[] = {
      {withHeader("{", ""), "not JSON"},
      {withHeader("[1]", ""), "no safetensors header"},
      {withHeader(deep, ""), "no safetensors header"},
      {withHeader(R"({"a":1})", ""), "no safetensors header"},
      {withHeader("{" + a + "," + a + "}", "ab"),
       "starts at data byte 0, expected 2"},
      {withHeader("{" + a + "}", "abc"), "1 bytes after the last tensor"},
      {withHeader("{" + a + "}", "a"), "cut off"},
      {withHeader(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})",
                  "ab"),
       "takes 3 bytes"},
      {withHeader(R"({"a":{"dtype":"C64","shape":[2],"data_offsets":[0,2]}})",
                  "ab"),
       "unknown dtype 'C64'"},
      {withHeader(R"({"a":{"dtype":"U8","shape":[2]}})", "ab"),
       "0 data_offsets"},
      {withHeader(R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})",
                  "ab"),
       "no safetensors header"},
      {withHeader(
           R"({"a":{"dtype":"U8","shape":[9223372036854775807,4],"data_offsets":[0,2]}})",
           "ab"),
       "takes -1"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "cut off"},
      {"short", "at least 8"},
  };
  const TestFolder folder;
  for (const BadHeader &c : cases) {
    const auto file = SafetensorsFile::open(folder.write("f", c.file));
    ASSERT_FALSE(file) << c.error;
    EXPECT_NE(file.error().message.find(c.error), std::string::npos)
        << c.error << " in: " << file.error().message;
  }
}

} // namespace
} // namespace mg::test
