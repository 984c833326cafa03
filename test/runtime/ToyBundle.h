// The toy model of the runtime's tests: y = w x, loss (y - target)^2, gradient
// descent; targets outside [-100, 100] are bad rows. w starts as the seed, so
// init(0) gives w = 0. And a source that deals given rows to devices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/program/Session.h"
#include "test/runtime/BundleBuilder.h"

#include <vector>

namespace mg::test {

/// Variable 0 is w (f64), input 0 x and input 1 target (f32), train 0 and
/// predict 0 (output y, f32).
BundleBuilder toyBundle(std::vector<uint32_t> units, float learningRate = 0.1f);

/// The image of ToyKernels.c.
Bytes toyImage();

/// Opens it; a failure ends the test program with the message.
std::unique_ptr<Session> openToy(std::vector<uint32_t> units, int devices,
                                 int threads, float learningRate = 0.1f);

double weight(Session &session, int device = 0);

struct Row {
  float x, target;
};

/// Deals rows: units[d] are the units of device d. Rows beyond a unit's valid
/// ones copy its last row.
class ToySource final : public UnitSource {
public:
  ToySource(std::vector<Row> rows, std::vector<std::vector<Unit>> units,
            uint32_t unitRows)
      : rows(std::move(rows)), units(std::move(units)), unitRows(unitRows) {}

  int unitCount(int device) const override {
    return static_cast<int>(units[static_cast<size_t>(device)].size());
  }
  Unit fill(int device, int k,
            std::span<std::byte *const> destination) override;

private:
  std::vector<Row> rows;
  std::vector<std::vector<Unit>> units;
  uint32_t unitRows;
};

/// Units of `unitRows` in row order, device by device, as evenly as whole units
/// allow; late devices may have none.
ToySource dealEvenly(std::vector<Row> rows, int devices, uint32_t unitRows);

} // namespace mg::test
