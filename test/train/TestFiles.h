// A folder that goes with the test, and files in it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mg::test {

class TestFolder {
public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "mg-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path); }

  std::string write(const std::string &name, const std::string &content) const {
    const std::filesystem::path file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }
  std::string at(const std::string &name) const {
    return (path / name).string();
  }
  size_t fileCount() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path), {}));
  }

  std::filesystem::path path;
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace mg::test
