// Opens a bundle file: header, checksums, the FlatBuffer verifier, then
// Verify.h, then the blobs' checksums.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Crc32c.h"
#include "runtime/base/MappedFile.h"
#include "runtime/program/Checks.h"
#include "runtime/program/Session.h"
#include "runtime/program/Verify.h"
#include "runtime/schema/Header.h"

#include <cstring>

namespace mg {
namespace {

constexpr std::string_view damaged =
    "the file is damaged; copy it again or compile the model again";

/// Size, magic, header checksum, version, file size, in this order: each makes
/// sense only after the one before it.
Expected<schema::Header> readHeader(std::span<const std::byte> file) {
  schema::Header header;
  if (file.size() < sizeof header)
    return failure(Code::BadInput,
                   "{} bytes are too few for a bundle, whose header has {}",
                   file.size(), sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, schema::headerMagic, sizeof header.magic) != 0)
    return failure(Code::BadInput,
                   "not a bundle: it starts with {:02x}, expected {:02x}; "
                   "compile a model with mgc to get one",
                   fmt::join(header.magic, " "),
                   fmt::join(schema::headerMagic, " "));
  uint32_t crc = crc32c(file.first(offsetof(schema::Header, headerCrc)));
  if (crc != header.headerCrc)
    return failure(Code::BadInput,
                   "header checksum {:08x}, expected {:08x}; {}", crc,
                   header.headerCrc, damaged);
  if (header.major != schema::majorVersion)
    return failure(Code::BadInput,
                   "bundle format {}.{}, but this runtime reads {}.x; {}",
                   header.major, header.minor, schema::majorVersion,
                   header.major > schema::majorVersion
                       ? "use a newer mg runtime, or compile the model with "
                         "this version's mgc"
                       : "compile the model again with this version's mgc");
  if (header.fileBytes != file.size())
    return failure(Code::BadInput, "{} bytes, expected {}; {}", file.size(),
                   header.fileBytes,
                   file.size() < header.fileBytes
                       ? "the file was cut short; copy it again"
                       : damaged);
  return header;
}

Expected<const schema::Bundle *> readTables(std::span<const std::byte> file,
                                            const schema::Header &header) {
  if (header.tableBytes > file.size() - sizeof header)
    return failure(Code::BadInput,
                   "tables of {} bytes do not fit in a file of {}; {}",
                   header.tableBytes, file.size(), damaged);
  auto bytes = file.subspan(sizeof header, header.tableBytes);
  uint32_t crc = crc32c(bytes);
  if (crc != header.tableCrc)
    return failure(Code::BadInput, "table checksum {:08x}, expected {:08x}; {}",
                   crc, header.tableCrc, damaged);
  auto *buffer = reinterpret_cast<const uint8_t *>(bytes.data());
  if (bytes.size() < 8 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return failure(Code::BadInput,
                   "tables of {} bytes, expected 8 bytes to 2 GiB; {}",
                   bytes.size(), damaged);
  if (!schema::BundleBufferHasIdentifier(buffer))
    return failure(Code::BadInput, "the tables are not marked {}; {}",
                   schema::BundleIdentifier(), damaged);
  flatbuffers::Verifier verifier(buffer, bytes.size(), /*max_depth=*/64,
                                 /*max_tables=*/100'000'000);
  if (!schema::VerifyBundleBuffer(verifier))
    return failure(Code::BadInput, "the tables are malformed; {}", damaged);
  return schema::GetBundle(buffer);
}

Status checkBlobCrc(std::span<const std::byte> file, const schema::Blob &blob) {
  uint32_t crc = crc32c(file.subspan(blob.offset(), blob.bytes()));
  if (crc != blob.crc32c())
    return failure(Code::BadInput, "checksum {:08x}, expected {:08x}; {}", crc,
                   blob.crc32c(), damaged);
  return {};
}

Status checkBlobs(std::span<const std::byte> file,
                  const schema::Bundle &tables) {
  if (tables.constants() && tables.constants()->bytes() > 0)
    MG_TRY(in(checkBlobCrc(file, *tables.constants()), "constants"));
  return each(tables.targets(), "image of target", [&](auto *target) {
    return checkBlobCrc(file, *target->image());
  });
}

Expected<const schema::Bundle *> verifyFile(std::span<const std::byte> file) {
  MG_TRY_ASSIGN(header, readHeader(file));
  MG_TRY_ASSIGN(tables, readTables(file, header));
  MG_TRY(verifyTables(*tables, sizeof header + header.tableBytes, file.size()));
  MG_TRY(verifyEntries(*tables));
  MG_TRY(checkBlobs(file, *tables));
  return tables;
}

class FileBundle final : public Bundle {
public:
  FileBundle(MappedFile file, const schema::Bundle *root)
      : file(std::move(file)), root(root) {}
  const schema::Bundle &tables() const override { return *root; }
  std::span<const std::byte> blob(const schema::Blob &blob) const override {
    return file.bytes().subspan(blob.offset(), blob.bytes());
  }
  uint64_t fileBytes() const override { return file.bytes().size(); }

private:
  MappedFile file;
  const schema::Bundle *root;
};

} // namespace

Expected<std::unique_ptr<Bundle>> Bundle::open(const std::string &path) {
  MG_TRY_ASSIGN(file, MappedFile::open(path));
  auto root = verifyFile(file.bytes());
  if (!root)
    return tl::unexpected(std::move(root.error()).in(path));
  return std::make_unique<FileBundle>(std::move(file), *root);
}

} // namespace mg
