// Finds file positions inside named, fused and call-site locations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bundle/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

using namespace mlir;

std::vector<std::string> mg::filePositions(Location location) {
  std::vector<std::string> result;
  location->walk([&](Location part) {
    auto position = dyn_cast<FileLineColRange>(part);
    if (!position)
      return WalkResult::advance();
    std::string text = (llvm::sys::path::filename(position.getFilename()) +
                        ":" + llvm::Twine(position.getStartLine()) + ":" +
                        llvm::Twine(position.getStartColumn()))
                           .str();
    if (!llvm::is_contained(result, text))
      result.push_back(std::move(text));
    return WalkResult::advance();
  });
  return result;
}

int mg::LocationTable::index(Location location) {
  std::vector<std::string> positions = filePositions(location);
  if (positions.empty())
    return -1;
  auto [it, isNew] = indices.try_emplace(positions[0], texts.size());
  if (isNew)
    texts.push_back(positions[0]);
  return it->second;
}
