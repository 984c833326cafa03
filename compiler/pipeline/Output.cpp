// Files that are whole or not there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

static std::error_code takeError(raw_fd_ostream &stream) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error(); // an error that nobody took ends the process
  return error;
}

static std::error_code write(int descriptor, StringRef content) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << content;
  if (std::error_code error = takeError(stream))
    return error;
  if (::fsync(descriptor) != 0)
    return std::error_code(errno, std::generic_category());
  return {};
}

std::error_code mlir::mg::replaceFile(StringRef path, StringRef content) {
  SmallString<256> target;
  if (sys::fs::real_path(path, target)) // a new file
    target = path;
  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(target + ".tmp-%%%%%%");
  if (!temporary)
    return errorToErrorCode(temporary.takeError());
  std::error_code error = write(temporary->FD, content);
  Error last = error ? temporary->discard() : temporary->keep(target);
  std::error_code lastError = errorToErrorCode(std::move(last));
  return error ? error : lastError;
}

std::error_code mlir::mg::finishStandardOutput() { return takeError(outs()); }
