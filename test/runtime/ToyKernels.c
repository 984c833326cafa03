// Kernels of the toy bundle (ToyBundle.h), in C by the kernel ABI: least
// squares y = w x, in f64, one block a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdint.h>

#define KERNEL(NAME)                                                           \
  void NAME(void *const *bindings, const int64_t *scalars, uint32_t x,         \
            uint32_t y, uint32_t z)
#define UNUSED (void)bindings, (void)scalars, (void)x, (void)y, (void)z
#define ARG(TYPE, INDEX) ((TYPE *)bindings[INDEX])

// (seed, w, step): w = seed
KERNEL(toy_init) {
  UNUSED;
  *ARG(double, 1) = (double)*ARG(int64_t, 0);
  *ARG(int64_t, 2) = 0;
}

// (x (U), target (U), w, rows; gradient (U), loss (U)); block = row
KERNEL(toy_rows) {
  UNUSED;
  double error = *ARG(double, 2) * ARG(float, 0)[x] - ARG(float, 1)[x];
  int valid = x < *ARG(int64_t, 3);
  ARG(double, 4)[x] = valid ? 2 * error * ARG(float, 0)[x] : 0;
  ARG(double, 5)[x] = valid ? error * error : 0;
}

// (values (U), rows; sum, sum and count): adds. scalars: U
KERNEL(toy_add) {
  UNUSED;
  double sum = 0;
  for (int64_t i = 0; i < scalars[0]; ++i)
    sum += ARG(double, 0)[i];
  ARG(double, 2)[0] += sum;
  ARG(double, 2)[1] += (double)*ARG(int64_t, 1);
}

// (target (U), row0, rows; check): the lowest row with a target outside
// [scalars[0], scalars[1]]
KERNEL(toy_check) {
  UNUSED;
  int64_t *check = ARG(int64_t, 3);
  for (int64_t i = *ARG(int64_t, 2) - 1; i >= 0; --i) {
    int64_t value = (int64_t)ARG(float, 0)[i],
            key = ((int64_t)1 << 62) - (*ARG(int64_t, 1) + i);
    if ((value >= scalars[0] && value <= scalars[1]) || key <= check[0])
      continue;
    check[0] = key;
    check[1] = value;
  }
}

// (gradient, loss, check, learning rate; w, step, epoch loss)
KERNEL(toy_update) {
  UNUSED;
  double *loss = ARG(double, 1), *epoch = ARG(double, 6);
  if (*ARG(int64_t, 2) != 0)
    return;
  if (loss[1] > 0)
    *ARG(double, 4) -= *ARG(float, 3) * (*ARG(double, 0) / loss[1]);
  ++*ARG(int64_t, 5);
  epoch[0] += loss[0];
  epoch[1] += loss[1];
}

// (x (U), w; y (U)); block = row
KERNEL(toy_predict) {
  UNUSED;
  ARG(float, 2)[x] = (float)(*ARG(double, 1) * ARG(float, 0)[x]);
}

// (; counts): adds 1 + scalars[0] at the block's place in a grid of 3 x 2 x any
KERNEL(toy_grid) {
  UNUSED;
  ARG(int32_t, 0)[(z * 2 + y) * 3 + x] += 1 + (int32_t)scalars[0];
}

// (; counts): toy_grid's first block
KERNEL(toy_block) { toy_grid(bindings, scalars, x, y, z); }
