// RapidJSON's writer; each line is one write.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/log/JsonLines.h"
#include "runtime/base/WriteAll.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

namespace mg {
namespace {

/// One object: put() for each key, then text().
class Line {
public:
  explicit Line(const char *event) : json(buffer) {
    json.StartObject();
    json.Key("event");
    json.String(event);
  }
  Line &put(const std::string &key, int64_t value) {
    json.Key(key.c_str());
    json.Int64(value);
    return *this;
  }
  Line &put(const std::string &key, uint64_t value) {
    json.Key(key.c_str());
    json.Uint64(value);
    return *this;
  }
  Line &put(const std::string &key, double value) {
    json.Key(key.c_str());
    putNumber(value);
    return *this;
  }
  Line &put(const std::string &key, const char *value) {
    json.Key(key.c_str());
    json.String(value);
    return *this;
  }
  Line &put(const std::vector<MetricValue> &metrics) {
    for (const MetricValue &metric : metrics)
      put(metric.name, metric.value);
    return *this;
  }
  template <typename T>
  Line &putList(const char *key, const std::vector<T> &values) {
    json.Key(key);
    json.StartArray();
    for (T value : values)
      putNumber(value);
    json.EndArray();
    return *this;
  }
  const char *text() {
    json.EndObject();
    return buffer.GetString();
  }

private:
  void putNumber(uint64_t value) { json.Uint64(value); }
  void putNumber(double value) {
    if (std::isfinite(value))
      json.Double(value);
    else
      json.Null();
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json;
};

} // namespace

Expected<std::unique_ptr<JsonLines>> JsonLines::open(const std::string &path) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failure(Code::Io, "{}: cannot write it: {}", path,
                   std::strerror(errno));
  return std::unique_ptr<JsonLines>(new JsonLines(descriptor, path));
}

JsonLines::~JsonLines() { close(descriptor); }

void JsonLines::write(std::string line) {
  line += '\n';
  if (const int failed = writeAll(descriptor, line); failed && error == 0)
    error = failed;
}

Status JsonLines::finish() {
  if (error)
    return failure(Code::Io, "{}: cannot write it: {}", path,
                   std::strerror(error));
  return {};
}

void JsonLines::start(const StartFacts &facts) {
  write(Line("start")
            .put("gpus", int64_t{facts.gpus})
            .put("devices", int64_t{facts.devices})
            .put("device", "cpu")
            .put("threads", int64_t{facts.threads})
            .put("rows", facts.rows)
            .put("validation_rows", facts.validationRows)
            .put("global_batch", facts.globalBatch)
            .put("unit", facts.unitRows)
            .put("steps_per_epoch", facts.stepsPerEpoch)
            .put("seed", facts.seed)
            .text());
}

void JsonLines::step(const StepFacts &facts) {
  write(Line("step").put("step", facts.step).put(facts.metrics).text());
}

void JsonLines::epoch(const EpochFacts &facts) {
  write(Line("epoch")
            .put("epoch", facts.epoch)
            .put("epochs", facts.epochs)
            .put("steps", facts.steps)
            .put("steps_per_epoch", facts.stepsPerEpoch)
            .put("seconds", facts.seconds)
            .put(facts.metrics)
            .text());
}

void JsonLines::test(const TestFacts &facts) {
  write(Line("test").put("rows", facts.rows).put(facts.metrics).text());
}

void JsonLines::devices(const DeviceFacts &facts) {
  write(Line("devices")
            .put("seconds", facts.seconds)
            .putList("busy", facts.busy)
            .putList("waiting_for_data", facts.waitingForData)
            .putList("waiting_for_devices", facts.waitingForDevices)
            .putList("memory_bytes", facts.memoryBytes)
            .text());
}

} // namespace mg
