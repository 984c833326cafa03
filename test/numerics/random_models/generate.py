# Draws the random models and stores them with what JAX computes: graphs.json and expected.npy. The test needs no JAX.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generate.py [SEED…]: writes both files beside this one; with seeds, prints these models and what is expected.

Set PYTHONPATH to the folder above. Ops are drawn in a random order until enough of them fit. What nothing uses at the
end is folded into the loss, so that every op counts. A model is kept when its results are neither large nor changed
much by rounding to f32."""

from __future__ import annotations

import json
import multiprocessing
import sys
from pathlib import Path

import numpy as np
from builder import SIZES, Unfit, live
from families import Families, still
from graph import all_nodes, mg_text
from reference import Reference

FOLDER, SEEDS, ATTEMPTS = Path(__file__).resolve().parent, 200, 1000
OBJECTIVES = ("sparse_cross_entropy", "cross_entropy", "binary_cross_entropy", "mean_squared_error", "arithmetic")
STRAY = {"f64": 1e-4, "f32": 2e-6}  # how far an f32 computation may be off, to be kept


class Model(Families):
    """A graph with an objective."""

    def rows_first(self, name: str) -> str:
        """The value in the model's type, the batch as its first dimension."""
        if self.type_of(name) != self.element:
            name = self.add("cast", [name], to=self.element)
        shape = self.shape(name)
        if "?" not in shape[1:]:
            return name
        return self.add("transpose", [name], permutation=[shape.index("?"), *still(shape)])

    def batched(self) -> str:
        """A value with the batch first."""
        return self.rows_first(self.pick(lambda shape, element: element[0] == "f" and "?" in shape))

    def loss(self, objective: str) -> str:
        """One value or more a row."""
        if objective == "arithmetic":
            x = self.batched()
            return self.add("multiply", [x, self.add(self.one_of(("tanh", "sine", "sigmoid", "negate")), [x])])
        if objective in ("sparse_cross_entropy", "cross_entropy"):
            return (self.labels if objective[0] == "s" else self.cross_entropy)(objective, self.logits())
        x = self.batched()
        if objective == "mean_squared_error":
            return self.add(objective, [x, self.fresh(*self.scope.kinds[x])])
        if self.chance(0.5):
            return self.add(objective, [x, self.add("sigmoid", [self.fresh(*self.scope.kinds[x])])])
        return self.add(objective, [x, self.input(self.shape(x), self.element, 0, 1)])

    def logits(self) -> str:
        """A layer of scores."""
        x = self.batched()
        if self.shape(x) == ["?"] or self.chance(0.5):
            x = self.add("flatten", [x])
        self.variable([self.shape(x)[-1], self.one_of(SIZES)], "scores.kernel")
        return self.add("dense", [x], group="scores")

    def fold(self, name: str, rank: int) -> str:
        """A value that nothing uses, as a term of a loss of this rank: a number a row, or one for all."""
        x = self.rows_first(name)
        axes = still(self.shape(x))
        if np.prod([self.shape(x)[i] for i in axes]) > 1:
            x = self.add("multiply", [x, self.factor(self.shape(x)[-len(axes):])])
        if axes:
            x = self.add(self.one_of(("reduce_mean", "reduce_sum")), [x], axes=axes)
        x = self.add("multiply_by", [x], by=round(0.2 + self.random.random(), 3))
        return self.add("reshape", [x], shape=[0] + [1] * (rank - 1)) if rank > 1 and "?" in self.shape(x) else x

    def factor(self, shape: list) -> str:
        """Factors that differ from element to element, so that none can stand for another."""
        if np.prod(shape) <= 24 and self.chance(0.5):
            return self.fresh(shape, self.element)
        position = self.add("cast", [self.add("iota", [], axis=self.below(len(shape)), shape=shape)], to=self.element)
        wave = self.one_of(("sine", "cosine"))
        return self.add(wave, [self.add("add", [position, self.fresh(shape[-1:], self.element)])])

    def weights(self, shape: list) -> str:
        """Weights from data: some 0."""
        if self.chance(0.5):
            return self.add("cast", [self.input(shape, "i1", -1, 1)], to=self.element)
        return self.add("relu", [self.input(shape, self.element, -0.5, 1.5)])

    def metric(self) -> str:
        """A number a row."""
        x = self.batched()
        return self.add("reduce_mean", [x], axes=still(self.shape(x))) if len(self.shape(x)) > 1 else x

    def finish(self, objective: str, weighted: bool, measured: bool) -> None:
        """Objective, weight and metric; nothing stays unused."""
        g, loss = self.graph, self.loss(objective)
        if len(self.shape(loss)) > 1 and self.chance(0.5):
            loss = self.add("reduce_mean", [loss], axes=still(self.shape(loss)))
        used = {operand for node in self.scope.nodes for operand in node[1]} | {loss}
        for i, node in enumerate(list(self.scope.nodes)):
            if f"n{i}" not in used and node[0] != "get":
                loss = self.add("add", [loss, self.fold(f"n{i}", len(self.shape(loss)))])
        g["metric"] = self.metric() if measured else ""
        g["weight"] = self.weights(self.shape(loss)) if weighted else ""
        g["nodes"], names = live(self.scope.nodes, [loss, g["weight"], g["metric"]])
        g["loss"], g["weight"], g["metric"] = (names.get(name, name) for name in (loss, g["weight"], g["metric"]))
        self.drop_unused()

    def drop_unused(self) -> None:
        """Variables, data and functions that no node is left to use."""
        g = self.graph
        called = {node[2]["function"] for node in g["nodes"] if node[0] == "call"}
        g["functions"] = {name: function for name, function in g["functions"].items() if name in called}
        nodes = all_nodes(g)
        read = {g["loss"], g["weight"], g["metric"], *(operand for node in nodes for operand in node[1])}
        names = {f"{node[2]['group']}.{node[2]['name']}" for node in nodes if node[0] == "get"}
        groups = {node[2]["group"] for node in nodes if node[0] in ("dense", "dense_activated")}
        names |= {f"{group}.{part}" for group in groups for part in ("kernel", "bias")}
        g["data"] = {name: kind for name, kind in g["data"].items() if name in read}
        g["variables"] = {name: shape for name, shape in g["variables"].items() if name in names}


def model(seed: int, attempt: int) -> dict:
    """The graph of one attempt; Unfit if nothing came of it."""
    m = Model(1000 * seed + attempt, "f32" if seed // 5 % 5 == 2 else "f64")
    for batch in (["?"], ["?"], [], []):
        m.fresh(batch + [m.one_of(SIZES) for _ in range(m.one_of((0, 1, 1, 2, 2)))], m.element)
    m.draw_ops(6 + m.below(14))
    unit, rows = m.one_of((1, 2, 3, 4, 5, 7, 8, 13)), m.one_of((1, 3, 5, 7, 10, 13, 17, 23, 37))
    batch = rows + (m.below(2 * unit + 1) if m.chance(0.6) else 0)
    m.finish(OBJECTIVES[seed % len(OBJECTIVES)], seed % 3 == 0, seed % 2 == 0)
    return {"seed": seed, "unit": unit, "rows": rows, "batch": batch, **m.graph}


def expected(graph: dict) -> list[np.ndarray]:
    """Loss, metric and gradients; Unfit if few variables matter or values are large, changed by rounding or 0."""
    exact = Reference(graph, graph["rows"], np.float64).expected()
    moved = sum(np.any(gradient) for gradient in exact[2:])
    if moved < max(2, len(exact) / 2 - 1) or abs(exact[0]) < 0.01:
        raise Unfit
    for value, other in zip(exact, Reference(graph, graph["rows"], np.float32).expected()):
        largest = np.abs(value).max()
        if not largest < 1000 or not np.abs(value - other).max() <= STRAY[graph["type"]] * largest:
            raise Unfit
    return exact


def kept(seed: int) -> tuple[dict, list[np.ndarray]]:
    """The first attempt that is kept."""
    for attempt in range(ATTEMPTS):
        try:
            graph = model(seed, attempt)
            return graph, expected(graph)
        except Unfit:
            continue
    raise SystemExit(f"seed {seed}: {ATTEMPTS} attempts, none is kept")


def main() -> int:
    """All seeds, on every core."""
    only = [int(seed) for seed in sys.argv[1:]]
    if only:
        for graph, values in map(kept, only):
            print(json.dumps(graph), mg_text(graph), *values, sep="\n")
        return 0
    with multiprocessing.get_context("spawn").Pool() as pool:
        results = pool.map(kept, range(SEEDS), chunksize=4)
    lines = [json.dumps(graph, separators=(",", ":")) + "\n" for graph, _ in results]
    (FOLDER / "graphs.json").write_text("".join(lines))
    np.save(FOLDER / "expected.npy", np.concatenate([value.ravel() for _, values in results for value in values]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
