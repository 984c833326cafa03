// Lays out a bundle as FORMAT.md says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/BundleBuilder.h"

#include "runtime/base/Crc32c.h"
#include "runtime/schema/DType.h"

#include <cstdlib>
#include <cstring>
#include <span>
#include <unistd.h>

namespace mg::test {
namespace {

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

schema::Range take(schema::Region region, uint64_t &used, uint64_t bytes) {
  schema::Range range(region, used, bytes);
  used = alignUp(used + bytes, schema::arrayAlignment);
  return range;
}

Bytes pack(const schema::BundleT &tables) {
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishBundleBuffer(builder, schema::Bundle::Pack(builder, &tables));
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return Bytes(data, data + builder.GetSize());
}

/// Puts a blob behind `end` and returns its place.
schema::Blob place(const Bytes &content, uint64_t &end) {
  uint64_t offset = alignUp(end, schema::blobAlignment);
  end = offset + content.size();
  return schema::Blob(offset, content.size(), crc32c(content));
}

void put(Bytes &file, uint64_t offset, const Bytes &content) {
  if (!content.empty())
    std::memcpy(file.data() + offset, content.data(), content.size());
}

void writeHeader(Bytes &file, uint64_t tableBytes) {
  schema::Header header{};
  std::memcpy(header.magic, schema::headerMagic, sizeof header.magic);
  header.major = schema::majorVersion;
  header.minor = schema::minorVersion;
  header.fileBytes = file.size();
  header.tableBytes = tableBytes;
  std::memcpy(file.data(), &header, sizeof header);
  repairChecksums(file);
}

} // namespace

BundleBuilder::BundleBuilder(std::vector<uint32_t> units) {
  tables.name = "toy";
  tables.compiler = "test";
  tables.units = std::move(units);
  uint64_t seed = state(8).offset(), step = state(8).offset(),
           row0 = state(8).offset(), rows = state(8).offset();
  tables.control = std::make_unique<schema::Control>(seed, step, row0, rows);
}

schema::Range BundleBuilder::state(uint64_t bytes) {
  return take(schema::Region::State, tables.state_bytes, bytes);
}
schema::Range BundleBuilder::arena(uint64_t bytes) {
  return take(schema::Region::Arena, tables.arena_bytes, bytes);
}

std::unique_ptr<schema::ArrayT>
BundleBuilder::array(std::string name, schema::DType dtype,
                     std::vector<int64_t> shape) {
  auto array = std::make_unique<schema::ArrayT>();
  array->name = std::move(name);
  array->dtype = dtype;
  array->bytes = schema::bytesOf(dtype);
  for (int64_t dimension : shape)
    array->bytes *= static_cast<uint64_t>(dimension);
  array->shape = std::move(shape);
  array->offset = state(array->bytes).offset();
  return array;
}

uint32_t BundleBuilder::kernel(const std::string &name, schema::Grid grid) {
  for (uint32_t i = 0; i < tables.kernels.size(); ++i)
    if (tables.kernels[i]->name == name) {
      assert(grids[i] == grid);
      return i;
    }
  tables.kernels.push_back(std::make_unique<schema::KernelT>());
  tables.kernels.back()->name = name;
  grids.push_back(grid);
  return static_cast<uint32_t>(tables.kernels.size() - 1);
}

schema::EntryT &BundleBuilder::entry(schema::Role role, int owner,
                                     uint32_t unit) {
  tables.entries.push_back(std::make_unique<schema::EntryT>());
  schema::EntryT &entry = *tables.entries.back();
  entry.role = role;
  entry.owner = owner;
  entry.unit = unit;
  return entry;
}

void BundleBuilder::add(schema::EntryT &entry, schema::OpUnion op) {
  entry.commands.push_back(std::make_unique<schema::CommandT>());
  entry.commands.back()->op = std::move(op);
}

void BundleBuilder::launch(schema::EntryT &entry, const std::string &kernelName,
                           schema::Grid grid,
                           std::vector<schema::Range> bindings,
                           std::vector<int64_t> scalars) {
  schema::LaunchT launch;
  launch.kernel = kernel(kernelName, grid);
  launch.bindings = std::move(bindings);
  launch.scalars = std::move(scalars);
  schema::OpUnion op;
  op.Set(std::move(launch));
  add(entry, std::move(op));
}

void BundleBuilder::allReduce(schema::EntryT &entry,
                              schema::Reduction reduction, schema::DType dtype,
                              schema::Range range) {
  schema::CollectiveT collective;
  collective.reduction = reduction;
  collective.dtype = dtype;
  collective.range = std::make_unique<schema::Range>(range);
  schema::OpUnion op;
  op.Set(std::move(collective));
  add(entry, std::move(op));
}

void BundleBuilder::copy(schema::EntryT &entry, schema::Range from,
                         schema::Range to) {
  schema::CopyT copy;
  copy.from = std::make_unique<schema::Range>(from);
  copy.to = std::make_unique<schema::Range>(to);
  schema::OpUnion op;
  op.Set(std::move(copy));
  add(entry, std::move(op));
}

void BundleBuilder::fill(schema::EntryT &entry, schema::Range to,
                         uint8_t byte) {
  schema::FillT fill;
  fill.to = std::make_unique<schema::Range>(to);
  fill.byte = byte;
  schema::OpUnion op;
  op.Set(std::move(fill));
  add(entry, std::move(op));
}

void BundleBuilder::target(std::string cpu, std::vector<std::string> features,
                           Bytes image) {
  tables.targets.push_back(std::make_unique<schema::TargetT>());
  schema::TargetT &target = *tables.targets.back();
  target.kind = "cpu";
  target.cpu = std::move(cpu);
  target.features = std::move(features);
  images.push_back(std::move(image));
}

Bytes BundleBuilder::file(
    const std::function<void(schema::BundleT &)> &change) const {
  schema::BundleT all(tables);
  all.constants = std::make_unique<schema::Blob>();
  for (auto &target : all.targets) {
    target->image = std::make_unique<schema::Blob>();
    target->grids = grids;
  }
  uint64_t end = sizeof(schema::Header) + pack(all).size() +
                 schema::blobAlignment; // room for what `change` adds
  *all.constants = place(constants, end);
  for (size_t i = 0; i < images.size(); ++i)
    *all.targets[i]->image = place(images[i], end);

  std::vector<schema::Blob> places;
  for (auto &target : all.targets)
    places.push_back(*target->image);
  schema::Blob constantPlace = *all.constants;
  if (change)
    change(all);
  Bytes packed = pack(all), file(end);
  put(file, sizeof(schema::Header), packed);
  put(file, constantPlace.offset(), constants);
  for (size_t i = 0; i < images.size(); ++i)
    put(file, places[i].offset(), images[i]);
  writeHeader(file, packed.size());
  return file;
}

schema::Range rangeOf(const schema::ArrayT &array) {
  return schema::Range(schema::Region::State, array.offset, array.bytes);
}

schema::Range part(schema::Range range, uint64_t offset, uint64_t bytes) {
  return schema::Range(range.region(), range.offset() + offset, bytes);
}

void repairChecksums(Bytes &file) {
  schema::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  std::span<const std::byte> content(file);
  if (header.tableBytes <= file.size() - sizeof header)
    header.tableCrc = crc32c(content.subspan(sizeof header, header.tableBytes));
  std::memcpy(file.data(), &header, sizeof header);
  header.headerCrc = crc32c(content.first(offsetof(schema::Header, headerCrc)));
  std::memcpy(file.data(), &header, sizeof header);
}

TemporaryFile::TemporaryFile(const Bytes &content) {
  const char *folder = std::getenv("TMPDIR");
  name = std::string(folder ? folder : "/tmp") + "/mg-test-XXXXXX";
  int descriptor = mkstemp(name.data());
  if (descriptor < 0 || write(descriptor, content.data(), content.size()) !=
                            static_cast<ssize_t>(content.size()))
    std::abort();
  close(descriptor);
}

TemporaryFile::~TemporaryFile() { unlink(name.c_str()); }

} // namespace mg::test
