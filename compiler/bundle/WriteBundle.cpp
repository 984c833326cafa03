// The file around the tables: header, code images at page boundaries, checksums
// (runtime/schema/FORMAT.md).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bundle/Bundle.h"
#include "compiler/bundle/Crc32c.h"
#include "compiler/bundle/Tables.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/schema/Header.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
namespace schema = ::mg::schema;

/// The bytes of a `tensor<Nxi8>` constant, in `copy` if the attribute does not
/// hold them in a row.
static std::optional<ArrayRef<char>> bytesOf(Attribute image,
                                             std::vector<char> &copy) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(image)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (blob)
      return blob->getData();
    return {};
  }
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(image);
  if (!dense || !dense.getElementType().isInteger(8))
    return {};
  if (!dense.isSplat())
    return dense.getRawData();
  copy.assign(dense.getNumElements(), dense.getRawData()[0]);
  return ArrayRef<char>(copy);
}

namespace {

/// One element of `mg.objects`.
struct Image {
  ArrayRef<char> bytes;
  std::vector<char> copy;
};

class FileWriter {
public:
  explicit FileWriter(ModuleOp module) : module(module) {}

  LogicalResult write(llvm::raw_ostream &stream) {
    FailureOr<schema::BundleT> tables = mlir::mg::buildTables(module);
    if (failed(tables))
      return failure();
    bundle = std::move(*tables);
    if (failed(addTargets()))
      return failure();
    // Offsets have a fixed size in the tables, so a first pack tells where the
    // images begin.
    uint64_t fileBytes = placeImages(pack().size());
    std::vector<char> packed = pack();
    writeHeader(packed, fileBytes, stream);
    stream.write(packed.data(), packed.size());
    writeImages(sizeof(schema::Header) + packed.size(), stream);
    return success();
  }

private:
  LogicalResult addTargets() {
    auto objects = module->getAttrOfType<ArrayAttr>("mg.objects");
    if (!objects || objects.empty())
      return module.emitError("expected code in 'mg.objects': run the code "
                              "stage");
    images.resize(objects.size());
    for (auto [index, object] : llvm::enumerate(objects))
      if (failed(addTarget(index, object)))
        return failure();
    return success();
  }

  LogicalResult addTarget(size_t index, Attribute object) {
    auto fields = dyn_cast<DictionaryAttr>(object);
    auto kind = fields ? fields.getAs<StringAttr>("kind") : StringAttr();
    auto cpu = fields ? fields.getAs<StringAttr>("cpu") : StringAttr();
    std::optional<ArrayRef<char>> bytes;
    if (fields)
      bytes = bytesOf(fields.get("image"), images[index].copy);
    if (!kind || !cpu || !bytes || bytes->empty())
      return module.emitError("mg.objects: expected strings 'kind' and 'cpu' "
                              "and a tensor of i8 'image' in element ")
             << index;
    images[index].bytes = *bytes;
    auto target = std::make_unique<schema::TargetT>();
    target->kind = kind.str();
    target->cpu = cpu.str();
    if (auto features = fields.getAs<ArrayAttr>("features"))
      for (auto feature : features.getAsRange<StringAttr>())
        target->features.push_back(feature.str());
    if (failed(addGrids(fields, *target)))
      return failure();
    target->image = std::make_unique<schema::Blob>();
    bundle.targets.push_back(std::move(target));
    return success();
  }

  LogicalResult addGrids(DictionaryAttr object, schema::TargetT &target) {
    auto grids = object.getAs<DictionaryAttr>("grids");
    auto isSide = [](int64_t side) { return side > 0 && side <= UINT32_MAX; };
    for (const auto &kernel : bundle.kernels) {
      auto grid = grids ? grids.getAs<DenseI64ArrayAttr>(kernel->name)
                        : DenseI64ArrayAttr();
      if (!grid || grid.size() != 3 || !llvm::all_of(grid.asArrayRef(), isSide))
        return module.emitError("mg.objects: expected three positive sides in "
                                "'grids' of '")
               << target.cpu << "' for the kernel @" << kernel->name;
      target.grids.emplace_back(grid[0], grid[1], grid[2]);
    }
    return success();
  }

  std::vector<char> pack() {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(schema::Bundle::Pack(builder, &bundle),
                   schema::BundleIdentifier());
    auto *begin = reinterpret_cast<const char *>(builder.GetBufferPointer());
    return {begin, begin + builder.GetSize()};
  }

  /// Gives each image its place; the size of the file.
  uint64_t placeImages(uint64_t tableBytes) {
    uint64_t end = sizeof(schema::Header) + tableBytes;
    for (auto [image, target] : llvm::zip(images, bundle.targets)) {
      uint64_t begin = llvm::alignTo(end, schema::blobAlignment);
      *target->image = schema::Blob(begin, image.bytes.size(),
                                    mlir::mg::crc32c(image.bytes));
      end = begin + image.bytes.size();
    }
    return end;
  }

  void writeHeader(ArrayRef<char> tables, uint64_t fileBytes,
                   llvm::raw_ostream &stream) {
    static_assert(llvm::endianness::native == llvm::endianness::little,
                  "the header is little-endian");
    schema::Header header = {};
    std::memcpy(header.magic, schema::headerMagic, sizeof header.magic);
    header.major = schema::majorVersion;
    header.minor = schema::minorVersion;
    header.fileBytes = fileBytes;
    header.tableBytes = tables.size();
    header.tableCrc = mlir::mg::crc32c(tables);
    auto *bytes = reinterpret_cast<const char *>(&header);
    header.headerCrc =
        mlir::mg::crc32c({bytes, offsetof(schema::Header, headerCrc)});
    stream.write(bytes, sizeof header);
  }

  void writeImages(uint64_t end, llvm::raw_ostream &stream) {
    for (auto [image, target] : llvm::zip(images, bundle.targets)) {
      stream.write_zeros(target->image->offset() - end);
      stream.write(image.bytes.data(), image.bytes.size());
      end = target->image->offset() + image.bytes.size();
    }
  }

  ModuleOp module;
  schema::BundleT bundle;
  std::vector<Image> images;
};

} // namespace

LogicalResult mlir::mg::writeBundle(ModuleOp module,
                                    llvm::raw_ostream &stream) {
  return FileWriter(module).write(stream);
}
