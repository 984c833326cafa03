# Random values are Philox4x32-10 with the counters of compiler/RATIONALE.md C7: initializers and dropout masks against NumPy.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""philox.py FOLDER"""

from __future__ import annotations

import sys

import numpy as np
from harness import Bench

MASK = np.uint64(0xFFFFFFFF)


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Ten rounds on rows of four words (Salmon et al. 2011)."""
    words = [counter[:, i].astype(np.uint64) for i in range(4)]
    k0, k1 = key
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [(p1 >> np.uint64(32)) ^ words[1] ^ np.uint64(k0), p1 & MASK, (p0 >> np.uint64(32)) ^ words[3] ^ np.uint64(k1), p0 & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(words, 1)


def fnv1a(text: str) -> int:
    """32-bit FNV-1a."""
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def row_words(elements: int, row: int, step: int, key: int, seed: int) -> np.ndarray:
    """The words of one row: element e is word e mod 4 of block e / 4."""
    blocks = (elements + 3) // 4
    counter = np.array([[block, row, step, key] for block in range(blocks)], np.uint64)
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32)).reshape(-1)[:elements]


def check_vectors() -> None:
    """Known answers of Random123."""
    zero = philox(np.zeros((1, 4), np.uint64), (0, 0))
    ones = philox(np.full((1, 4), 0xFFFFFFFF, np.uint64), (0xFFFFFFFF, 0xFFFFFFFF))
    assert [hex(word) for word in zero[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"], zero
    assert [hex(word) for word in ones[0]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"], ones


def check_initializers(bench: Bench, seed: int) -> None:
    """Uniform ones bit for bit, the others by what they are made of."""
    text = """mg.model @start {
      mg.variables @v {low: 7x5xf32 = uniform(-1.0, 3.0), glorot: 7x5xf32 = glorot_uniform, he: 7x5xf64 = he_uniform, gauss: 4001xf64 = normal(1.0, 2.0),
                       cut: 4001xf64 = truncated_normal(0.0, 1.0), c: 3xf32 = constant(0.25), o: 2xf64 = ones}
      mg.train @fit(%x: tensor<?xf64>) {
        %g = mg.get @v::@he
        %s = mg.reduce_sum %g, axes = [0, 1]
        %loss = mg.multiply %x, %s
        mg.minimize %loss with @sgd {learning_rate = 0.0}
      }
    }"""
    bundle = bench.compile("start", text, batch=1)
    state, _, _ = bench.train(bundle, {"x": np.ones(1)}, "--steps=1", f"--seed={seed}")

    def unit(name: str, elements: int, bits: int) -> np.ndarray:
        words = row_words(elements, 0, 0xFFFFFFFF, fnv1a(name), seed)
        return (words >> np.uint64(32 - bits)).astype(np.float64) * 2.0 ** -bits

    low = np.float32(unit("v.low", 35, 24)) * np.float32(4) + np.float32(-1)
    np.testing.assert_array_equal(state["v.low"].reshape(-1), low)
    limit = np.sqrt(6 / 12)
    np.testing.assert_allclose(state["v.glorot"].reshape(-1), unit("v.glorot", 35, 24) * 2 * limit - limit, rtol=0, atol=1e-7)
    limit = np.sqrt(6 / 7)
    np.testing.assert_allclose(state["v.he"].reshape(-1), unit("v.he", 35, 32) * 2 * limit - limit, rtol=0, atol=1e-14)
    gauss = np.sqrt(-2 * np.log(1 - unit("v.gauss", 4001, 32))) * np.cos(2 * np.pi * unit("v.gauss#2", 4001, 32)) * 2 + 1
    np.testing.assert_allclose(state["v.gauss"], gauss, rtol=0, atol=1e-12)
    cut = state["v.cut"]
    assert np.abs(cut).max() <= 2.000001 and abs(cut.mean()) < 0.06 and abs(cut.std() - 0.8796) < 0.03, (cut.max(), cut.mean(), cut.std())
    assert (state["v.c"] == 0.25).all() and (state["v.o"] == 1).all()


def check_dropout(bench: Bench, seed: int) -> None:
    """The derivative of a dropout of one row is its mask times 1 / (1 - rate), at any step and row."""
    text = """mg.model @drop {
      mg.variables @v {w: 1x10xf64 = ones}
      mg.train @fit(%x: tensor<?x1xf64>) {
        %w = mg.get @v::@w
        %h = mg.matmul %x, %w
        %d = mg.dropout %h, 0.3
        %loss = mg.reduce_sum %d, axes = [1]
        mg.minimize %loss with @sgd {learning_rate = 1.0}
      }
    }"""
    bundle = bench.compile("drop", text, batch=4)
    key = fnv1a("drop/fit/0")
    for devices in (1, 2):
        for rows, steps in ((1, 1), (3, 1), (5, 1), (8, 2)):
            state, _, _ = bench.train(bundle, {"x": np.ones((rows, 1))}, f"--global-batch={max(8, rows) // steps}", f"--steps={steps}", f"--seed={seed}",
                                      f"--devices={devices}")
            expected, left = np.ones(10), rows
            for step in range(steps):
                batch = min(left, max(8, rows) // steps)
                masks = [row_words(10, row, step, key, seed) < np.floor(0.7 * 2**32) for row in range(batch)]
                expected -= np.sum(masks, 0) / 0.7 / batch
                left -= batch
            np.testing.assert_allclose(state["v.w"].reshape(-1), expected, rtol=0, atol=1e-12, err_msg=f"{rows} rows, {steps} steps, {devices} devices")


def main() -> int:
    """All checks."""
    bench = Bench(sys.argv[1])
    check_vectors()
    for seed in (0, 7, 2**40 + 5):
        check_initializers(bench, seed)
        check_dropout(bench, seed)
    print("initializers and masks are Philox")
    return 0


if __name__ == "__main__":
    sys.exit(main())
