// Walks the tables twice over: as text and as JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/log/BundleInfo.h"
#include "runtime/data/ElementType.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace mg {
namespace {

std::string typeOf(const schema::Array &array, bool anyRows = false) {
  return describeArray(array.dtype(), shapeOf(array), anyRows);
}

int64_t elementsOf(const schema::Array &array) {
  return bytesOf(shapeOf(array), 1);
}

int64_t parameterCount(const schema::Bundle &tables) {
  int64_t count = 0;
  for (const schema::Variable *variable : *tables.variables())
    count += variable->trainable() ? elementsOf(*variable->array()) : 0;
  return count;
}

uint64_t constantBytes(const schema::Bundle &tables) {
  return tables.constants() ? tables.constants()->bytes() : 0;
}

/// "image ?x28x28xui8, label ?xui8"
template <typename Table>
std::string listArrays(const flatbuffers::Vector<uint32_t> *indices,
                       const Table &table) {
  std::string text;
  for (uint32_t i = 0; indices && i < indices->size(); ++i) {
    const schema::Array &array = *table.Get(indices->Get(i))->array();
    text += fmt::format("{}{} {}", i ? ", " : "", array.name()->string_view(),
                        typeOf(array, true));
  }
  return text;
}

std::string trainText(const schema::Bundle &tables, uint32_t index) {
  const schema::Train &train = *tables.trains()->Get(index);
  std::string metrics, scalars, slots;
  for (const schema::Metric *metric : *train.metrics())
    metrics += fmt::format(" {}", metric->name()->string_view());
  for (const schema::Scalar *scalar : *tables.scalars())
    if (scalar->train() == index)
      scalars += fmt::format(" {}={}", scalar->array()->name()->string_view(),
                             scalar->value());
  uint32_t slotCount = 0;
  for (const schema::Slot *slot : *tables.slots())
    slotCount += slot->train() == index;
  return fmt::format(
      "train {}: {}\n  metrics:{}\n  scalars:{}\n  optimizer slots: {}\n",
      train.name()->string_view(), listArrays(train.inputs(), *tables.inputs()),
      metrics, scalars, slotCount);
}

std::string targetText(const schema::Target &target) {
  std::string features;
  if (target.features())
    for (const flatbuffers::String *feature : *target.features())
      features += " " + feature->str();
  return fmt::format("target {} {}: {} bytes{}{}\n",
                     target.kind()->string_view(), target.cpu()->string_view(),
                     target.image() ? target.image()->bytes() : 0,
                     features.empty() ? "" : ", needs", features);
}

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

void put(Json &json, const char *key, const std::string &text) {
  json.Key(key);
  json.String(text.c_str(), static_cast<rapidjson::SizeType>(text.size()));
}
void put(Json &json, const char *key, uint64_t value) {
  json.Key(key);
  json.Uint64(value);
}

/// name, dtype, shape of an array, without the braces.
void putArray(Json &json, const schema::Array &array) {
  put(json, "name", array.name()->str());
  put(json, "dtype", std::string(elementType(array.dtype()).name));
  json.Key("shape");
  json.StartArray();
  for (int64_t size : shapeOf(array))
    json.Int64(size);
  json.EndArray();
}

/// A list of the arrays of `table`, all of them or those at `indices`.
template <typename Table>
void putArrays(Json &json, const char *key, const Table &table,
               const flatbuffers::Vector<uint32_t> *indices) {
  json.Key(key);
  json.StartArray();
  for (uint32_t i = 0; indices && i < indices->size(); ++i) {
    json.StartObject();
    putArray(json, *table.Get(indices->Get(i))->array());
    json.EndObject();
  }
  json.EndArray();
}

void putVariables(Json &json, const schema::Bundle &tables) {
  json.Key("variables");
  json.StartArray();
  for (const schema::Variable *variable : *tables.variables()) {
    json.StartObject();
    putArray(json, *variable->array());
    json.Key("trainable");
    json.Bool(variable->trainable());
    json.EndObject();
  }
  json.EndArray();
  json.Key("slots");
  json.StartArray();
  for (const schema::Slot *slot : *tables.slots()) {
    json.StartObject();
    putArray(json, *slot->array());
    put(json, "train", tables.trains()->Get(slot->train())->name()->str());
    json.EndObject();
  }
  json.EndArray();
}

void putTrain(Json &json, const schema::Bundle &tables, uint32_t index) {
  const schema::Train &train = *tables.trains()->Get(index);
  json.StartObject();
  put(json, "name", train.name()->str());
  putArrays(json, "inputs", *tables.inputs(), train.inputs());
  json.Key("metrics");
  json.StartArray();
  for (const schema::Metric *metric : *train.metrics())
    json.String(metric->name()->c_str());
  json.EndArray();
  json.Key("scalars");
  json.StartObject();
  for (const schema::Scalar *scalar : *tables.scalars())
    if (scalar->train() == index) {
      json.Key(scalar->array()->name()->c_str());
      json.Double(scalar->value());
    }
  json.EndObject();
  json.EndObject();
}

void putTargets(Json &json, const schema::Bundle &tables) {
  json.Key("targets");
  json.StartArray();
  for (const schema::Target *target : *tables.targets()) {
    json.StartObject();
    put(json, "kind", target->kind()->str());
    put(json, "cpu", target->cpu()->str());
    json.Key("features");
    json.StartArray();
    for (uint32_t i = 0; target->features() && i < target->features()->size();
         ++i)
      json.String(target->features()->Get(i)->c_str());
    json.EndArray();
    put(json, "bytes", target->image() ? target->image()->bytes() : 0);
    json.EndObject();
  }
  json.EndArray();
}

void putPrograms(Json &json, const schema::Bundle &tables) {
  json.Key("units");
  json.StartArray();
  for (uint32_t unit : *tables.units())
    json.Uint(unit);
  json.EndArray();
  json.Key("trains");
  json.StartArray();
  for (uint32_t i = 0; i < tables.trains()->size(); ++i)
    putTrain(json, tables, i);
  json.EndArray();
  json.Key("predicts");
  json.StartArray();
  for (const schema::Predict *predict : *tables.predicts()) {
    json.StartObject();
    put(json, "name", predict->name()->str());
    putArrays(json, "inputs", *tables.inputs(), predict->inputs());
    putArrays(json, "outputs", *tables.outputs(), predict->outputs());
    json.EndObject();
  }
  json.EndArray();
}

} // namespace

std::string bundleText(const Bundle &bundle) {
  const schema::Bundle &tables = bundle.tables();
  std::string text =
      fmt::format("model {} (compiled by {})\n", tables.name()->string_view(),
                  tables.compiler()->string_view());
  for (const schema::Variable *variable : *tables.variables())
    text += fmt::format(
        "  {:<24} {:<20} {:>12}{}\n", variable->array()->name()->string_view(),
        typeOf(*variable->array()), elementsOf(*variable->array()),
        variable->trainable() ? "" : " (not trained)");
  text += fmt::format("parameters: {}\n", parameterCount(tables));
  std::string units;
  for (uint32_t unit : *tables.units())
    units += fmt::format(" {}", unit);
  text += fmt::format("unit rows:{}\n", units);
  for (uint32_t i = 0; i < tables.trains()->size(); ++i)
    text += trainText(tables, i);
  for (const schema::Predict *predict : *tables.predicts())
    text +=
        fmt::format("predict {}: {} -> {}\n", predict->name()->string_view(),
                    listArrays(predict->inputs(), *tables.inputs()),
                    listArrays(predict->outputs(), *tables.outputs()));
  for (const schema::Target *target : *tables.targets())
    text += targetText(*target);
  return text + fmt::format("bytes a device: state {}, arena {}; shared: "
                            "constants {}; file {}\n",
                            tables.state_bytes(), tables.arena_bytes(),
                            constantBytes(tables), bundle.fileBytes());
}

std::string bundleJson(const Bundle &bundle) {
  const schema::Bundle &tables = bundle.tables();
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  put(json, "model", tables.name()->str());
  put(json, "compiler", tables.compiler()->str());
  put(json, "parameters", static_cast<uint64_t>(parameterCount(tables)));
  putVariables(json, tables);
  putPrograms(json, tables);
  putTargets(json, tables);
  put(json, "state_bytes", tables.state_bytes());
  put(json, "arena_bytes", tables.arena_bytes());
  put(json, "constant_bytes", constantBytes(tables));
  put(json, "file_bytes", bundle.fileBytes());
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

} // namespace mg
