// The cost model of register tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/TileModel.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::mg;

/// Of x86-64 cores since Haswell and Zen 2.
static constexpr double kFmasPerCycle = 2, kLoadsPerCycle = 2;
static constexpr double kFmaLatency = 4;

double mlir::mg::tileStepCycles(int64_t rows, int64_t vectors) {
  double fmas = rows * vectors / kFmasPerCycle;
  // A broadcast a row, a vector of the other operand a column.
  double loads = (rows + vectors) / kLoadsPerCycle;
  return std::max({fmas, loads, kFmaLatency});
}

/// Starting a tile and writing its results.
static double tileFixedCycles(int64_t rows, int64_t vectors) {
  return 10 + rows * vectors;
}

static double coverCycles(RegisterTile tile, int64_t m, int64_t n, int64_t k,
                          int64_t lanes) {
  auto cost = [&](int64_t rows, int64_t vectors) {
    return rows == 0 || vectors == 0 ? 0
                                     : k * tileStepCycles(rows, vectors) +
                                           tileFixedCycles(rows, vectors);
  };
  int64_t width = tile.vectors * lanes;
  int64_t lastVectors = (n % width + lanes - 1) / lanes;
  auto column = [&](int64_t vectors) {
    return (m / tile.rows) * cost(tile.rows, vectors) +
           cost(m % tile.rows, vectors);
  };
  return (n / width) * column(tile.vectors) + column(lastVectors);
}

RegisterTile mlir::mg::chooseTile(int64_t m, int64_t n, int64_t k,
                                  int64_t lanes, const CpuModel &model) {
  RegisterTile best;
  double bestCycles = coverCycles(best, m, n, k, lanes);
  for (int64_t vectors = 1;
       vectors <= std::min<int64_t>(6, (n + lanes - 1) / lanes); ++vectors)
    for (int64_t rows = 1; rows <= std::min<int64_t>(14, m); ++rows) {
      // Accumulators, one row of the other operand, one broadcast.
      if (rows * vectors + vectors + 1 > model.vectorRegisters)
        continue;
      RegisterTile tile{rows, vectors};
      double cycles = coverCycles(tile, m, n, k, lanes);
      if (cycles < bestCycles) {
        best = tile;
        bestCycles = cycles;
      }
    }
  return best;
}
