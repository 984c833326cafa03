# The training step of examples/mnist/mlp.mlir in JAX, as fast as JAX runs it: one lax.scan over twenty steps, donated state,
# data on the device. A peer to measure beside, not a test.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax_mlp.py [--threads=T] [--batch=64] [--steps=400] [--prng=threefry2x32|rbg]: one JSON line, as `mgrun bench` prints."""

from __future__ import annotations

import argparse
import json
import os
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--prng", default="threefry2x32")
arguments = parser.parse_args()
if arguments.threads == 1:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

# pylint: disable=wrong-import-position # threads are counted when JAX starts
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

CHUNK, ROWS = 20, 8192
KEY = jax.random.key(0, impl=arguments.prng)
random = jax.random.split(jax.random.key(1), 5)
images = jax.random.randint(random[0], (ROWS, 784), 0, 256, jnp.uint8)
labels = jax.random.randint(random[1], (ROWS,), 0, 10, jnp.uint8).astype(jnp.int32)
glorot = jax.nn.initializers.glorot_uniform()
weights = [(glorot(key, shape), jnp.zeros(shape[1])) for key, shape in zip(random[2:], [(784, 512), (512, 256), (256, 10)])]


def dropout(x, key):
    """Keeps 80 %, scaled."""
    return jnp.where(jax.random.bernoulli(key, 0.8, x.shape), x / 0.8, 0)


def loss(parameters, x, y, key):
    """Mean cross-entropy of the batch."""
    first, second = jax.random.split(key)
    (w1, b1), (w2, b2), (w3, b3) = parameters
    h1 = dropout(jax.nn.relu(x.astype(jnp.float32) / 255 @ w1 + b1), first)
    h2 = dropout(jax.nn.relu(h1 @ w2 + b2), second)
    scores = jax.nn.log_softmax(h2 @ w3 + b3)
    return -jnp.mean(jnp.take_along_axis(scores, y[:, None], 1))


def step(state, rows):
    """One step of Adam, as Keras writes it."""
    parameters, first, second, t = state
    value, gradients = jax.value_and_grad(loss)(parameters, images[rows], labels[rows], jax.random.fold_in(KEY, t))
    t += 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    first = jax.tree.map(lambda m, g: m + 0.1 * (g - m), first, gradients)
    second = jax.tree.map(lambda v, g: v + 0.001 * (g * g - v), second, gradients)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), parameters, first, second)
    return (parameters, first, second, t), value


many = jax.jit(lambda state, order: jax.lax.scan(step, state, order), donate_argnums=0)
order = jax.random.randint(random[0], (CHUNK, arguments.batch), 0, ROWS)
zeros = jax.tree.map(jnp.zeros_like, weights)
state, _ = many((weights, zeros, jax.tree.map(jnp.copy, zeros), jnp.int32(0)), order)
times = []
for _ in range(max(1, arguments.steps // CHUNK)):
    jax.block_until_ready(state)
    start = time.perf_counter()
    state, values = many(state, order)
    jax.block_until_ready((state, values))
    times.append((time.perf_counter() - start) / CHUNK * 1e6)
times.sort()
print(json.dumps({"step_us_median": round(times[len(times) // 2], 1), "step_us_min": round(times[0], 1), "threads": arguments.threads,
                  "batch": arguments.batch, "prng": arguments.prng, "loss": round(float(values[-1]), 4)}))
