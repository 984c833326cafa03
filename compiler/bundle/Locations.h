// Places in the user's file as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_BUNDLE_LOCATIONS_H
#define MG_COMPILER_BUNDLE_LOCATIONS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlir::mg {

/// "mlp.mlir:9:13" for each file position in `location`, in order, without
/// repetition. Folders are left out.
std::vector<std::string> filePositions(Location location);

/// The table `locations` of a bundle.
class LocationTable {
public:
  /// The index of the first file position in `location`, -1 if there is none.
  int index(Location location);
  std::vector<std::string> take() { return std::move(texts); }

private:
  llvm::StringMap<int> indices;
  std::vector<std::string> texts;
};

} // namespace mlir::mg

#endif // MG_COMPILER_BUNDLE_LOCATIONS_H
