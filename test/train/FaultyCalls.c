// Preloaded into mgrun: the n-th call of the listed functions that touches a
// chosen file or needs a resource fails, writes less, or ends the process.
// FAULT_AT=n (from 1; 0: none), FAULT_ACTION=fail|short|interrupt|kill,
// FAULT_COUNT=FILE gets the number of calls. Calls before main are not counted:
// they are the loader's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long faultAt;
static const char *action = "";

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("FAULT_COUNT");
  long count = atomic_load(&calls);
  faultAt = 0;
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

__attribute__((constructor)) static void start(void) {
  const char *at = getenv("FAULT_AT");
  faultAt = at ? atol(at) : 0;
  action = getenv("FAULT_ACTION") ? getenv("FAULT_ACTION") : "fail";
}

/// Counts a call; whether it is the one.
static int isFaulty(void) {
  if (atomic_fetch_add(&calls, 1) + 1 != faultAt)
    return 0;
  if (!strcmp(action, "kill"))
    kill(getpid(), SIGKILL);
  return 1;
}
static int fails(void) { return isFaulty() && !strcmp(action, "fail"); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(error, value)                                                     \
  do {                                                                         \
    if (fails()) {                                                             \
      errno = error;                                                           \
      return value;                                                            \
    }                                                                          \
  } while (0)

static int realOpen(const char *name, const char *path, int flags,
                    mode_t mode) {
  int (*real)(const char *, int, ...) =
      (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
  return real(path, flags, mode);
}
#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    mode_t mode = 0;                                                           \
    if (flags & (O_CREAT | O_TMPFILE)) {                                       \
      va_list rest;                                                            \
      va_start(rest, flags);                                                   \
      mode = va_arg(rest, mode_t);                                             \
      va_end(rest);                                                            \
    }                                                                          \
    FAIL(EMFILE, -1);                                                          \
    return realOpen(#name, path, flags, mode);                                 \
  }
OPEN(open)
OPEN(open64)

FILE *fopen(const char *path, const char *mode) {
  FAIL(EMFILE, NULL);
  return REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  FAIL(EMFILE, NULL);
  return REAL(fopen)(path, mode);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd,
           off_t offset) {
  FAIL(ENOMEM, MAP_FAILED);
  return REAL(mmap)(at, bytes, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t bytes, int protection, int flags, int fd,
             off_t offset) {
  FAIL(ENOMEM, MAP_FAILED);
  return REAL(mmap)(at, bytes, protection, flags, fd, offset);
}
int memfd_create(const char *name, unsigned flags) {
  FAIL(EMFILE, -1);
  return REAL(memfd_create)(name, flags);
}
void *dlopen(const char *path, int flags) {
  FAIL(ENOMEM, NULL);
  return REAL(dlopen)(path, flags);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *argument) {
  if (fails())
    return EAGAIN;
  return REAL(pthread_create)(thread, attributes, body, argument);
}
int fsync(int fd) {
  FAIL(EIO, -1);
  return REAL(fsync)(fd);
}
int linkat(int fromFolder, const char *from, int toFolder, const char *to,
           int flags) {
  FAIL(EIO, -1);
  return REAL(linkat)(fromFolder, from, toFolder, to, flags);
}
int rename(const char *from, const char *to) {
  FAIL(EIO, -1);
  return REAL(rename)(from, to);
}

static ssize_t writeLess(size_t bytes) {
  if (!strcmp(action, "fail")) {
    errno = ENOSPC;
    return -1;
  }
  if (!strcmp(action, "interrupt")) {
    errno = EINTR;
    return -1;
  }
  return (ssize_t)(bytes / 2);
}
ssize_t write(int fd, const void *data, size_t bytes) {
  size_t part = bytes;
  if (isFaulty()) {
    ssize_t less = writeLess(bytes);
    if (less <= 0)
      return less;
    part = (size_t)less;
  }
  return REAL(write)(fd, data, part);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset) {
  size_t part = bytes;
  if (isFaulty()) {
    ssize_t less = writeLess(bytes);
    if (less <= 0 && bytes > 0)
      return less;
    part = (size_t)less;
  }
  return REAL(pwrite)(fd, data, part, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t offset) {
  return pwrite(fd, data, bytes, offset);
}
