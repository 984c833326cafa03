// Affinity mask and cgroup CPU quota. What cannot be read does not limit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/Cores.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <string>
#include <thread>

namespace mg {
namespace {

int affinityCores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    return CPU_COUNT(&mask);
  return static_cast<int>(
      std::thread::hardware_concurrency()); // more than 1024 cores: the mask
                                            // does not fit
}

/// Reads up to `capacity` - 1 bytes; an absent file reads as empty.
std::string readSmallFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return {};
  char text[4096];
  size_t count = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return std::string(text, count);
}

/// The path of this process in the hierarchy of `controller` ("" for v2), from
/// /proc/self/cgroup: "ID:CONTROLLERS:PATH".
std::string cgroupPath(const std::string &controller) {
  std::string text = readSmallFile("/proc/self/cgroup");
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find("," + controller + ",") != std::string::npos)
      return line.substr(second + 1);
  }
  return {};
}

constexpr double unlimited = 1e9;

double quotaAt(const std::string &folder, bool v2) {
  double quota = -1, period = 0;
  if (v2) {
    if (std::sscanf(readSmallFile(folder + "/cpu.max").c_str(), "%lf %lf",
                    &quota, &period) != 2)
      return unlimited; // absent, or "max 100000"
  } else if (std::sscanf(readSmallFile(folder + "/cpu.cfs_quota_us").c_str(),
                         "%lf", &quota) != 1 ||
             std::sscanf(readSmallFile(folder + "/cpu.cfs_period_us").c_str(),
                         "%lf", &period) != 1) {
    return unlimited;
  }
  return quota > 0 && period > 0 ? quota / period : unlimited;
}

/// The smallest quota from this process' group up to the root. In a container
/// the path may not exist: then only the root does.
double smallestQuota(const std::string &root, std::string path, bool v2) {
  double quota = quotaAt(root, v2);
  while (path.size() > 1) {
    quota = std::min(quota, quotaAt(root + path, v2));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return quota;
}

} // namespace

int usableCores() {
  double quota =
      std::min(smallestQuota("/sys/fs/cgroup", cgroupPath(""), true),
               smallestQuota("/sys/fs/cgroup/cpu", cgroupPath("cpu"), false));
  double cores =
      std::min(static_cast<double>(affinityCores()), std::max(quota, 1.0));
  int whole = static_cast<int>(cores);
  return std::max(1, whole + (cores > whole ? 1 : 0));
}

} // namespace mg
