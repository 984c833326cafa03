// A file is known by its inode; one that does not exist yet by its path.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Overwrite.h"

#include <filesystem>
#include <map>
#include <sys/stat.h>

namespace mg {

/// What two names of one file share; empty for what is no regular file.
static std::string identityOf(const std::string &path) {
  struct stat there{};
  if (stat(path.c_str(), &there) == 0)
    return S_ISREG(there.st_mode)
               ? fmt::format("{}:{}", there.st_dev, there.st_ino)
               : "";
  std::error_code error;
  const std::string whole =
      std::filesystem::weakly_canonical(path, error).string();
  return error ? path : whole;
}

Status checkOverwrites(const std::vector<std::string> &inputs,
                       const std::vector<std::string> &outputs) {
  std::map<std::string, std::string> uses;
  for (const std::string &input : inputs)
    uses[identityOf(input)] = "it is read in this run";
  uses.erase("");
  for (const std::string &output : outputs) {
    const std::string identity = output.empty() ? "" : identityOf(output);
    if (identity.empty())
      continue;
    const auto [use, isNew] =
        uses.try_emplace(identity, "two outputs have this name");
    if (!isNew)
      return failure(Code::InvalidArgument,
                     "{}: cannot write it: {}; choose another name", output,
                     use->second);
  }
  return {};
}

} // namespace mg
