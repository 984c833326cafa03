// The printed lines, the JSON lines, and the count of GPUs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/log/Report.h"
#include "test/train/TestFiles.h"

#include <cmath>
#include <gtest/gtest.h>

namespace mg::test {
namespace {

TEST(Report, EpochLineIsKerasLike) {
  const EpochFacts facts{
      1,   5,
      430, 430,
      1.2, {{"loss", 0.31474}, {"accuracy", 0.9078}, {"val_loss", 0.18764}}};
  EXPECT_EQ(
      epochLine(facts),
      "430/430 - 1s - loss: 0.3147 - accuracy: 0.9078 - val_loss: 0.1876");
}

TEST(Report, SmallFiguresKeepTheirDigits) {
  EXPECT_EQ(epochLine({1, 1, 1, 1, 0, {{"loss", 0.0000314}, {"accuracy", 0}}}),
            "1/1 - 0s - loss: 3.1400e-05 - accuracy: 0.0000");
}

TEST(Report, ProgressLine) {
  EXPECT_EQ(
      progressLine({107, 430, 107, 0.1, 0.93, {{"loss", 0.31474}}}),
      "107/430 [====>...............] 1070 steps/s, 1 s left, busy 93 % - "
      "loss: 0.3147");
  EXPECT_EQ(
      progressLine({1, 1000, 1, 1, 0, {}}),
      "1/1000 [>...................] 1.0 steps/s, 16:39 min left, busy 0 %");
  EXPECT_EQ(
      progressLine({1, 10000, 1, 1, 0, {}}),
      "1/10000 [>...................] 1.0 steps/s, 2:46 h left, busy 0 %");
  EXPECT_EQ(progressLine({430, 430, 430, 2, 1, {}}),
            "430/430 [====================] 215 steps/s, 0 s left, busy 100 %");
  // gone on with in mid-epoch: what an earlier process did took no time here
  EXPECT_EQ(progressLine({300, 400, 100, 10, 0.5, {}}),
            "300/400 [===============>....] 10 steps/s, 10 s left, busy 50 %");
}

TEST(Report, DevicesLine) {
  const DeviceFacts facts{
      10, {0.93, 0.92}, {0.01, 0.01}, {0.03, 0.03}, {31'000'000, 31'000'000}};
  EXPECT_EQ(devicesLine(facts), "devices: busy 93 % 92 %, memory 31 MB each, "
                                "waiting for data 1 %, for each other 3 %");
  EXPECT_EQ(devicesWarning(facts), "");
}

TEST(Report, WarnsOfIdleAndOfUnevenDevices) {
  DeviceFacts facts{10, {0.65, 0.66}, {0, 0}, {0, 0}, {1, 1}};
  EXPECT_NE(devicesWarning(facts).find("device 0 is busy only 65 %"),
            std::string::npos);
  facts.possible = 0.9; // devices take turns
  EXPECT_EQ(devicesWarning(facts), "");
  facts.busy = {0.95, 0.80};
  EXPECT_NE(
      devicesWarning(facts).find("device 1 is busy 80 % and device 0 95 %"),
      std::string::npos);
  facts.seconds = 0.5; // mostly start-up
  EXPECT_EQ(devicesWarning(facts), "");
}

struct Printed {
  std::string output, warnings;
  Printer printer() {
    return [this](Stream stream, std::string_view text) {
      (stream == Stream::Output ? output : warnings) += text;
    };
  }
};

TEST(Report, MachineLinesAndTheLoudWarning) {
  Printed printed;
  Report(printed.printer(), Progress::Line, nullptr).machine({0, 0}, 2, false);
  EXPECT_EQ(printed.output, "Detected 0 GPUs\nUsing 2 devices (cpu)\n");
  EXPECT_NE(printed.warnings.find("warning: no GPU found"), std::string::npos);
}

TEST(Report, NoWarningWhereTheCpuWasAskedFor) {
  Printed printed;
  Report(printed.printer(), Progress::Line, nullptr).machine({0, 2}, 2, true);
  EXPECT_EQ(printed.warnings, "");
}

TEST(Report, GpusWithoutDriverNameTheContainerOption) {
  Printed printed;
  Report(printed.printer(), Progress::Line, nullptr).machine({0, 2}, 1, false);
  EXPECT_NE(printed.warnings.find("docker run --gpus all"), std::string::npos)
      << printed.warnings;
}

TEST(Report, NoneLeavesTestAndDevices) {
  Printed printed;
  Report report(printed.printer(), Progress::None, nullptr);
  report.machine({0, 0}, 2, true);
  report.epochBegins(1, 5);
  report.epochEnds({1, 5, 1, 1, 0, {{"loss", 1}}});
  EXPECT_EQ(printed.output, "");
  report.test({10, {{"loss", 0.5}, {"accuracy", 0.979}}});
  EXPECT_EQ(printed.output, "Test loss: 0.5000\nTest accuracy: 0.9790\n");
}

TEST(JsonLines, OneObjectALine) {
  const TestFolder folder;
  const std::string path = folder.at("log.json");
  {
    auto json = JsonLines::open(path);
    ASSERT_TRUE(json);
    (*json)->epoch({1, 5, 430, 430, 1.5, {{"loss", 0.25}, {"accuracy", NAN}}});
    (*json)->test({10, {{"loss", 0.5}}});
  }
  EXPECT_EQ(readFile(path), "{\"event\":\"epoch\",\"epoch\":1,\"epochs\":5,"
                            "\"steps\":430,\"steps_per_epoch\":430,"
                            "\"seconds\":1.5,\"loss\":0.25,\"accuracy\":null}\n"
                            "{\"event\":\"test\",\"rows\":10,\"loss\":0.5}\n");
}

void addPciDevice(const TestFolder &folder, const std::string &name,
                  const std::string &vendor, const std::string &type) {
  folder.write("sys/bus/pci/devices/" + name + "/vendor", vendor + "\n");
  folder.write("sys/bus/pci/devices/" + name + "/class", type + "\n");
}

TEST(GpuProbe, CountsDisplayAndComputeControllersOfNvidia) {
  const TestFolder folder;
  addPciDevice(folder, "0000:01:00.0", "0x10de", "0x030200"); // 3D controller
  addPciDevice(folder, "0000:01:00.1", "0x10de", "0x040300"); // its sound
  addPciDevice(folder, "0000:02:00.0", "0x1002", "0x030000"); // another maker's
  const GpuProbe probe = probeGpus(folder.path.string());
  EXPECT_EQ(probe.onBus, 1);
  EXPECT_EQ(probe.visible, 0);
}

TEST(GpuProbe, DriverWithoutDeviceNodesIsNotVisible) {
  const TestFolder folder; // a container shows the host's /proc
  folder.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "");
  EXPECT_EQ(probeGpus(folder.path.string()).visible, 0);
  folder.write("dev/nvidiactl", "");
  EXPECT_EQ(probeGpus(folder.path.string()).visible, 1);
}

} // namespace
} // namespace mg::test
