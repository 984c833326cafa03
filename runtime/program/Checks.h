// Small checks that VerifyTables.cpp and VerifyEntries.cpp are made of. Each
// returns BadInput with found and expected; the caller says where.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/schema/Header.h"
#include "runtime/schema/bundle_generated.h"

#include <cstdint>
#include <string_view>

namespace mg {

/// Returns `status`, with `where` in front if it is an error.
template <typename... Args>
Status in(Status status, fmt::format_string<Args...> where, Args &&...args) {
  if (status)
    return status;
  return tl::unexpected(
      std::move(status.error())
          .in(fmt::format(where, std::forward<Args>(args)...)));
}

/// Runs `check(element)` on a list that may be absent; an error gets "WHAT
/// INDEX: " in front.
template <typename List, typename Check>
Status each(const List *list, std::string_view what, Check check) {
  for (uint32_t i = 0; list && i < list->size(); ++i)
    MG_TRY(in(check(list->Get(i)), "{} {}", what, i));
  return {};
}

/// The FlatBuffer verifier leaves the alignment of 8-byte vector elements
/// unchecked.
template <typename List>
Status checkElementsAligned(const List *list, std::string_view what) {
  if (list && list->size() > 0 &&
      reinterpret_cast<uintptr_t>(list->Data()) % 8 != 0)
    return failure(Code::BadInput,
                   "{} start at a file offset that is not a multiple of 8",
                   what);
  return {};
}

inline Status checkIndex(int64_t index, uint64_t count, std::string_view what) {
  if (index < 0 || static_cast<uint64_t>(index) >= count)
    return failure(Code::BadInput, "index {} of {}, but there are {}", index,
                   what, count);
  return {};
}

/// -1 means none.
inline Status checkLocation(const schema::Bundle &tables, int location) {
  uint64_t count = tables.locations() ? tables.locations()->size() : 0;
  if (location != -1)
    return checkIndex(location, count, "location");
  return {};
}

/// Names reach messages, files and terminals: not empty, no control characters.
inline Status checkName(const flatbuffers::String *name,
                        std::string_view what) {
  if (!name || name->size() == 0)
    return failure(Code::BadInput, "{} is empty", what);
  for (char c : name->string_view())
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return failure(Code::BadInput, "{} holds the control character 0x{:02x}",
                     what, static_cast<unsigned char>(c));
  return {};
}

/// [offset, offset + bytes) in [0, limit), without overflow.
inline Status checkSpan(uint64_t offset, uint64_t bytes, uint64_t alignment,
                        uint64_t limit, std::string_view place) {
  if (offset % alignment != 0)
    return failure(Code::BadInput, "offset {} is not a multiple of {}", offset,
                   alignment);
  if (offset > limit || bytes > limit - offset)
    return failure(Code::BadInput,
                   "{} bytes at offset {} do not fit in {} of {} bytes", bytes,
                   offset, place, limit);
  return {};
}

/// A range of a region of this bundle; `range` may be absent from the file.
inline Status checkRange(const schema::Bundle &tables,
                         const schema::Range *range) {
  if (!range)
    return failure(Code::BadInput, "the range is missing");
  uint64_t constantBytes = tables.constants() ? tables.constants()->bytes() : 0;
  switch (range->region()) {
  case schema::Region::State:
    return checkSpan(range->offset(), range->bytes(), schema::arrayAlignment,
                     tables.state_bytes(), "a state region");
  case schema::Region::Arena:
    return checkSpan(range->offset(), range->bytes(), schema::arrayAlignment,
                     tables.arena_bytes(), "an arena");
  case schema::Region::Constant:
    return checkSpan(range->offset(), range->bytes(), schema::arrayAlignment,
                     constantBytes, "a constant region");
  }
  return failure(Code::BadInput, "region {} is none of state, arena, constant",
                 static_cast<int>(range->region()));
}

inline Status checkWritableRange(const schema::Bundle &tables,
                                 const schema::Range *range) {
  MG_TRY(checkRange(tables, range));
  if (range->region() == schema::Region::Constant)
    return failure(Code::BadInput,
                   "the range is written but lies in the constant region");
  return {};
}

inline Status checkStateRange(const schema::Bundle &tables,
                              const schema::Range *range) {
  MG_TRY(checkRange(tables, range));
  if (range->region() != schema::Region::State)
    return failure(Code::BadInput,
                   "the range must lie in the state region, found {}",
                   schema::EnumNameRegion(range->region()));
  return {};
}

} // namespace mg
