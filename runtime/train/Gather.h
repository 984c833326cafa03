// Copies the rows of a window from the data set into a device's staging
// buffers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/train/Dealing.h"

namespace mg {

class Gather : public UnitSource {
public:
  /// `order` gives the view's row at each position (empty: as they lie); it
  /// must outlive the windows.
  Gather(DataView rowsOf, const Dealing &deal,
         std::span<const int64_t> orderOf = {})
      : view(rowsOf), dealing(deal), order(orderOf) {}

  /// Moves to the window that starts at position `first` and has `rows` rows.
  void setWindow(int64_t first, int64_t rows) {
    start = first;
    windowRows = rows;
  }
  int64_t windowStart() const { return start; }

  /// The row of the view at a position, and of the file behind it.
  int64_t viewRow(int64_t position) const {
    return order.empty() ? position : order[static_cast<size_t>(position)];
  }
  int64_t fileRow(int64_t position) const {
    return view.first + viewRow(position);
  }

  int unitCount(int device) const override {
    return dealing.unitCount(device, windowRows);
  }
  Unit fill(int device, int k,
            std::span<std::byte *const> destination) override;

private:
  DataView view;
  Dealing dealing;
  std::span<const int64_t> order;
  int64_t start = 0, windowRows = 0;
};

} // namespace mg
