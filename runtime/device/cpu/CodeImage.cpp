// memfd_create and dlopen of /proc/self/fd/N.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/CodeImage.h"

#include "runtime/base/WriteAll.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace mg {
namespace {

/// Systems that seal anonymous files against execution by default want
/// MFD_EXEC; older ones do not know it.
int createAnonymousFile() {
  int descriptor = memfd_create("mg-code", MFD_CLOEXEC | MFD_EXEC);
  return descriptor >= 0 || errno != EINVAL
             ? descriptor
             : memfd_create("mg-code", MFD_CLOEXEC);
}

Expected<void *> openShared(int descriptor, std::span<const std::byte> elf) {
  if (const int error = writeAll(
          descriptor, {reinterpret_cast<const char *>(elf.data()), elf.size()}))
    return failure(Code::Io, "cannot write {} bytes of code to memory: {}",
                   elf.size(), strerror(error));
  if (void *handle = dlopen(fmt::format("/proc/self/fd/{}", descriptor).c_str(),
                            RTLD_NOW | RTLD_LOCAL))
    return handle;
  return failure(Code::BadInput, "cannot load the code image: {}", dlerror());
}

} // namespace

Expected<std::unique_ptr<CodeImage>>
CodeImage::load(std::span<const std::byte> elf) {
  int descriptor = createAnonymousFile();
  if (descriptor < 0)
    return failure(Code::Io, "cannot make an anonymous file for code: {}",
                   strerror(errno));
  auto handle = openShared(descriptor, elf);
  if (!handle) {
    close(descriptor);
    return tl::unexpected(std::move(handle).error());
  }
  return std::unique_ptr<CodeImage>(new CodeImage(descriptor, *handle));
}

// The descriptor stays open as long as the image: the loader knows images by
// path, so a number used again would find the old one.
CodeImage::~CodeImage() {
  dlclose(handle);
  close(descriptor);
}

Expected<KernelFunction> CodeImage::kernel(const char *name) const {
  void *symbol = dlsym(handle, name);
  link_map *own = nullptr;
  Dl_info info{};
  // dlsym also searches what the image needs: a kernel called "exit" must not
  // find the C library's.
  if (symbol && dlinfo(handle, RTLD_DI_LINKMAP, &own) == 0 &&
      dladdr(symbol, &info) != 0 && strcmp(info.dli_fname, own->l_name) == 0)
    return reinterpret_cast<KernelFunction>(symbol);
  return failure(
      Code::BadInput,
      "the code image does not define kernel '{}'; compile the model again",
      name);
}

} // namespace mg
