// Preloaded into mgrun: the n-th of the functions below to be called fails,
// writes less, is interrupted, or ends the process.
// FAULT_AT=n (from 1; 0: none), FAULT_ACTION=fail|short|interrupt|stop|kill
// (stop: two SIGINT), FAULT_CALLS=FILE gets the functions' names in order,
// FAULT_NAMED=1: no files without a name. Calls before main are not counted;
// the loader's own and stdio's are not seen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
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

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *names[4096];
static atomic_long calls;
static long faultAt;
static const char *action = "";
static int started, namedOnly;

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("FAULT_CALLS");
  long count = atomic_load(&calls);
  faultAt = 0;
  FILE *file = path ? REAL(fopen)(path, "w") : NULL;
  if (!file)
    return;
  for (long i = 0; i < count && i < 4096; ++i)
    fprintf(file, "%s\n", names[i]);
  fclose(file);
}

__attribute__((constructor)) static void start(void) {
  const char *at = getenv("FAULT_AT");
  faultAt = at ? atol(at) : 0;
  action = getenv("FAULT_ACTION") ? getenv("FAULT_ACTION") : "fail";
  namedOnly = getenv("FAULT_NAMED") != NULL;
  started = 1;
}

/// Counts a call; whether it is the one.
static int isFaulty(const char *name) {
  if (!started)
    return 0;
  long number = atomic_fetch_add(&calls, 1);
  if (number < 4096)
    names[number] = name;
  if (number + 1 != faultAt)
    return 0;
  if (!strcmp(action, "kill"))
    kill(getpid(), SIGKILL);
  for (int i = 0; i < 2 && !strcmp(action, "stop"); ++i)
    kill(getpid(), SIGINT);
  return 1;
}
static int fails(const char *name) {
  return isFaulty(name) && !strcmp(action, "fail");
}

#define FAIL(error, value)                                                     \
  do {                                                                         \
    if (fails(__func__)) {                                                     \
      errno = error;                                                           \
      return value;                                                            \
    }                                                                          \
  } while (0)
/// The function `name`, failing with `error`; calls the real one.
#define FAULTY(result, name, parameters, arguments, error, value)              \
  result name parameters {                                                     \
    FAIL(error, value);                                                        \
    return REAL(name) arguments;                                               \
  }

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
    if (namedOnly && (flags & O_TMPFILE) == O_TMPFILE) {                       \
      errno = EOPNOTSUPP;                                                      \
      return -1;                                                               \
    }                                                                          \
    return realOpen(#name, path, flags, mode);                                 \
  }
OPEN(open)
OPEN(open64)

FAULTY(FILE *, fopen, (const char *path, const char *mode), (path, mode),
       EMFILE, NULL)
FAULTY(FILE *, fopen64, (const char *path, const char *mode), (path, mode),
       EMFILE, NULL)
FAULTY(size_t, fread, (void *to, size_t bytes, size_t count, FILE *file),
       (to, bytes, count, file), EIO, 0)
FAULTY(int, stat, (const char *path, struct stat *status), (path, status), EIO,
       -1)
FAULTY(int, fstat, (int fd, struct stat *status), (fd, status), EIO, -1)
FAULTY(int, access, (const char *path, int mode), (path, mode), EIO, -1)
FAULTY(char *, realpath, (const char *path, char *real), (path, real), EIO,
       NULL)
FAULTY(int, fchmod, (int fd, mode_t mode), (fd, mode), EPERM, -1)
FAULTY(int, unlink, (const char *path), (path), EIO, -1)
FAULTY(int, linkat,
       (int fromFolder, const char *from, int toFolder, const char *to,
        int flags),
       (fromFolder, from, toFolder, to, flags), EIO, -1)
FAULTY(int, rename, (const char *from, const char *to), (from, to), EIO, -1)
FAULTY(void *, mmap,
       (void *at, size_t bytes, int protection, int flags, int fd, off_t from),
       (at, bytes, protection, flags, fd, from), ENOMEM, MAP_FAILED)
FAULTY(void *, mmap64,
       (void *at, size_t bytes, int protection, int flags, int fd, off_t from),
       (at, bytes, protection, flags, fd, from), ENOMEM, MAP_FAILED)
FAULTY(int, madvise, (void *at, size_t bytes, int advice), (at, bytes, advice),
       EINVAL, -1)
FAULTY(int, memfd_create, (const char *name, unsigned flags), (name, flags),
       EMFILE, -1)
FAULTY(void *, dlopen, (const char *path, int flags), (path, flags), ENOMEM,
       NULL)
FAULTY(int, sched_getaffinity, (pid_t process, size_t bytes, cpu_set_t *set),
       (process, bytes, set), EINVAL, -1)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *argument) {
  if (fails(__func__))
    return EAGAIN;
  return REAL(pthread_create)(thread, attributes, body, argument);
}

#ifndef MG_SANITIZED // the sanitizers replace these themselves
enum { LARGE = 64 << 10 };
void *malloc(size_t bytes) {
  static void *(*real)(size_t);
  if (bytes >= LARGE)
    FAIL(ENOMEM, NULL);
  if (!real)
    real = REAL(malloc);
  return real(bytes);
}
void *realloc(void *old, size_t bytes) {
  static void *(*real)(void *, size_t);
  if (bytes >= LARGE)
    FAIL(ENOMEM, NULL);
  if (!real)
    real = REAL(realloc);
  return real(old, bytes);
}
#endif

/// What a faulty write, flush or close returns instead of `done`.
static ssize_t faultyResult(int error, ssize_t less, ssize_t done) {
  if (!strcmp(action, "fail"))
    errno = error;
  else if (!strcmp(action, "interrupt"))
    errno = EINTR;
  else
    return !strcmp(action, "short") ? less : done;
  return -1;
}

int fsync(int fd) {
  struct stat status;
  const char *name = REAL(fstat)(fd, &status) == 0 && S_ISDIR(status.st_mode)
                         ? "fsync folder"
                         : "fsync";
  if (isFaulty(name) && faultyResult(EIO, 0, 0))
    return -1;
  return REAL(fsync)(fd);
}
int close(int fd) {
  int result = REAL(close)(fd); // Linux closes it, whatever it returns
  if (isFaulty(__func__))
    return (int)faultyResult(EIO, result, result);
  return result;
}
#define WRITE(parameters, name, ...)                                           \
  ssize_t name parameters {                                                    \
    if (isFaulty(__func__)) {                                                  \
      ssize_t part =                                                           \
          faultyResult(ENOSPC, (ssize_t)(bytes / 2), (ssize_t)bytes);          \
      if (part < 0)                                                            \
        return part;                                                           \
      bytes = part ? (size_t)part : bytes;                                     \
    }                                                                          \
    return REAL(name)(__VA_ARGS__);                                            \
  }
WRITE((int fd, const void *data, size_t bytes), write, fd, data, bytes)
WRITE((int fd, const void *data, size_t bytes, off_t at), pwrite, fd, data,
      bytes, at)
WRITE((int fd, const void *data, size_t bytes, off_t at), pwrite64, fd, data,
      bytes, at)
