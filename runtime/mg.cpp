// mg.h: errors, sessions, state. Training, evaluation and prediction are in
// mgRun.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/mg.h"
#include "runtime/data/ElementType.h"
#include "runtime/data/UnfinishedFiles.h"
#include "runtime/log/BundleInfo.h"
#include "runtime/schema/Header.h"
#include "runtime/train/SessionHandle.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mg {

static thread_local std::string lastError;

mg_code report(const Error &error) {
  lastError = error.message;
  // The enums differ by MG_OK in front.
  return static_cast<mg_code>(static_cast<int>(error.code) + 1);
}

mg_code report(const Status &status) {
  return status ? MG_OK : report(status.error());
}

/// The index of the table called `name` among `tables`; `what` is for the
/// message.
template <typename Tables>
static Expected<int> findNamed(const Tables &tables, const char *name,
                               const char *what) {
  if (!name && tables.size() == 1)
    return 0;
  std::string names;
  for (uint32_t i = 0; i < tables.size(); ++i) {
    if (name && tables.Get(i)->name()->string_view() == name)
      return static_cast<int>(i);
    names += fmt::format("{}{}", i ? ", " : "",
                         tables.Get(i)->name()->string_view());
  }
  if (names.empty())
    return failure(Code::InvalidArgument, "the model has no {}", what);
  if (!name)
    return failure(Code::InvalidArgument,
                   "the model has several {}s, choose one of {}", what, names);
  return failure(Code::InvalidArgument, "the model has no {} '{}', it has {}",
                 what, name, names);
}

Expected<int> findTrain(const schema::Bundle &tables, const char *name) {
  return findNamed(*tables.trains(), name, "mg.train");
}

Expected<int> findPredict(const schema::Bundle &tables, const char *name) {
  return findNamed(*tables.predicts(), name, "mg.predict");
}

static Expected<std::unique_ptr<mg_session>>
openSession(const char *path, const mg_open_options &options) {
  SessionOptions sessionOptions;
  sessionOptions.threads = options.threads;
  sessionOptions.deterministic = options.deterministic != 0;
  if (options.unit_rows < 0 || options.unit_rows > UINT32_MAX)
    return failure(Code::InvalidArgument, "units of {} rows do not exist",
                   options.unit_rows);
  sessionOptions.unitRows = static_cast<uint32_t>(options.unit_rows);
  for (int i = 0; i < options.devices; ++i)
    sessionOptions.deviceIds.push_back(
        options.device_ids ? options.device_ids[i] : i);
  MG_TRY_ASSIGN(bundle, Bundle::open(path));
  auto handle = std::make_unique<mg_session>();
  handle->bundlePath = path;
  handle->state = stateTable(bundle->tables());
  MG_TRY_ASSIGN(session, Session::open(std::move(bundle), sessionOptions));
  handle->session = std::move(session);
  MG_TRY(handle->session->init(0));
  return handle;
}

static Expected<const StateEntry *> stateEntry(const mg_session &handle,
                                               const char *name) {
  if (const StateEntry *entry = findState(handle.state, name))
    return entry;
  return failure(Code::InvalidArgument, "the model has no state '{}'", name);
}

/// The bytes of a state array on a device, if that is what the caller thinks it
/// is.
static Expected<std::span<std::byte>> stateBytes(const mg_session &handle,
                                                 const char *name, int device,
                                                 size_t bytes) {
  MG_TRY_ASSIGN(entry, stateEntry(handle, name));
  if (device < 0 || device >= handle.session->deviceCount())
    return failure(Code::InvalidArgument,
                   "device {} is not one of the {} devices", device,
                   handle.session->deviceCount());
  const std::span<std::byte> found =
      handle.session->state(device, *entry->array);
  if (found.size() != bytes)
    return failure(Code::InvalidArgument, "'{}' has {} bytes ({}), found {}",
                   name, found.size(),
                   describeArray(entry->array->dtype(), shapeOf(*entry->array)),
                   bytes);
  return found;
}

/// The scalars called `name`, of one train or of all.
static Expected<std::vector<const schema::Scalar *>>
findScalars(const mg_session &handle, const char *objective,
            std::string_view name) {
  int train = -1;
  if (objective) {
    MG_TRY_ASSIGN(index, findTrain(handle.tables(), objective));
    train = index;
  }
  std::vector<const schema::Scalar *> found;
  std::string names;
  for (const schema::Scalar *scalar : *handle.tables().scalars()) {
    if (train >= 0 && static_cast<int>(scalar->train()) != train)
      continue;
    const std::string_view its = scalar->array()->name()->string_view();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", its);
    if (its == name)
      found.push_back(scalar);
  }
  if (found.empty())
    return failure(Code::InvalidArgument,
                   "the optimizer has no scalar '{}', it has {}", name,
                   names.empty() ? "none" : names);
  return found;
}

} // namespace mg

using namespace mg;

const char *mg_version(void) {
  static const std::string text =
      fmt::format(MG_VERSION ", bundle format {}.{}", schema::majorVersion,
                  schema::minorVersion);
  return text.c_str();
}

const char *mg_last_error(void) { return lastError.c_str(); }

void mg_open_options_init(mg_open_options *options) {
  *options = {};
  options->size = sizeof *options;
  options->devices = 1;
}

mg_code mg_open(const char *path, const mg_open_options *given,
                mg_session **session) {
  *session = nullptr;
  auto handle = openSession(path, completed(given, mg_open_options_init));
  if (!handle)
    return report(handle.error());
  *session = handle->release();
  return MG_OK;
}

void mg_close(mg_session *session) { delete session; }

int mg_device_count(const mg_session *session) {
  return session->session->deviceCount();
}
int mg_thread_count(const mg_session *session) {
  return session->session->workerCount();
}

mg_code mg_init(mg_session *session, uint64_t seed) {
  session->position = {};
  return report(session->session->init(seed));
}

void mg_request_stop(mg_session *session) { session->stop = true; }
void mg_clear_stop(mg_session *session) { session->stop = false; }
void mg_remove_unfinished(void) { removeUnfinishedFiles(); }

size_t mg_state_count(const mg_session *session) {
  return session->state.size();
}

const char *mg_state_name(const mg_session *session, size_t index) {
  return index < session->state.size() ? session->state[index].name.c_str()
                                       : nullptr;
}

mg_code mg_state_describe(const mg_session *session, const char *name,
                          mg_array *array) {
  auto entry = stateEntry(*session, name);
  if (!entry)
    return report(entry.error());
  const schema::Array &found = *(*entry)->array;
  *array = {static_cast<mg_dtype>(found.dtype()),
            static_cast<int>(found.shape()->size()), found.shape()->data(),
            found.bytes()};
  return MG_OK;
}

mg_code mg_state_get(const mg_session *session, const char *name, int device,
                     void *data, size_t bytes) {
  auto found = stateBytes(*session, name, device, bytes);
  if (!found)
    return report(found.error());
  std::memcpy(data, found->data(), bytes);
  return MG_OK;
}

mg_code mg_state_set(mg_session *session, const char *name, int device,
                     const void *data, size_t bytes) {
  const int first = device == -1 ? 0 : device;
  const int last = device == -1 ? session->session->deviceCount() : device + 1;
  for (int d = first; d < last; ++d) {
    auto found = stateBytes(*session, name, d, bytes);
    if (!found)
      return report(found.error());
    std::memcpy(found->data(), data, bytes);
  }
  return MG_OK;
}

mg_code mg_scalar_get(const mg_session *session, const char *objective,
                      const char *name, double *value) {
  auto scalars = findScalars(*session, objective, name);
  if (!scalars)
    return report(scalars.error());
  *value = readScalar(*session->session, *scalars->front());
  return MG_OK;
}

mg_code mg_scalar_set(mg_session *session, const char *objective,
                      const char *name, double value) {
  auto scalars = findScalars(*session, objective, name);
  if (!scalars)
    return report(scalars.error());
  for (const schema::Scalar *scalar : *scalars)
    writeScalar(*session->session, *scalar, value);
  return MG_OK;
}

int64_t mg_step(const mg_session *session) {
  return session->session->stepCount();
}
uint64_t mg_seed(const mg_session *session) { return session->session->seed(); }

mg_code mg_set_seed(mg_session *session, uint64_t seed) {
  session->session->setSeed(seed);
  return MG_OK;
}

mg_code mg_save(mg_session *session, const char *path) {
  return report(saveCheckpoint(*session->session, path, session->position));
}

mg_code mg_load(mg_session *session, const char *path, int to_train,
                int *has_slots) {
  auto loaded = loadCheckpoint(*session->session, path,
                               to_train == 2   ? LoadScope::Resume
                               : to_train == 1 ? LoadScope::All
                                               : LoadScope::Variables);
  if (!loaded)
    return report(loaded.error());
  session->statePath = path;
  if (has_slots)
    *has_slots = loaded->hasSlots;
  if (to_train && loaded->hasSlots)
    session->position = loaded->position;
  return MG_OK;
}

mg_code mg_info(const char *path, int as_json, char **text) {
  *text = nullptr;
  auto bundle = Bundle::open(path);
  if (!bundle)
    return report(bundle.error());
  *text = strdup(
      (as_json ? bundleJson(**bundle) + "\n" : bundleText(**bundle)).c_str());
  return *text ? MG_OK
               : report(Error{Code::OutOfMemory, "no memory for the text"});
}

void mg_free(char *text) { std::free(text); }
