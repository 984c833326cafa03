# Random models: loss, metric and gradients of 200 graphs on 1, 2 and 4 devices, against values that JAX computed.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_models.py FOLDER [SEED…]

The graphs are in graphs.json, the values in expected.npy; generate.py makes both. Every second model runs in a checked
arena."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from graph import data, mg_text, ops_of, variables
from harness import Bench, losses
from ops import OPS

HERE, DEVICES, TOLERANCE, FEWEST_SEEDS = Path(__file__).resolve().parent, (1, 2, 4), {"f64": 1e-10, "f32": 1e-5}, 3


def read() -> list[tuple[dict, dict[str, np.ndarray]]]:
    """Each graph and what is expected of it: loss, metric, and gradients by the variable's name."""
    values, models = np.load(HERE / "expected.npy"), []
    for line in (HERE / "graphs.json").read_text().splitlines():
        graph, named = json.loads(line), {}
        for name, shape in {"loss": [], "metric": [], **graph["variables"]}.items():
            count = int(np.prod(shape))
            named[name], values = values[:count].reshape(shape), values[count:]
        models.append((graph, named))
    assert not len(values), f"{len(values)} values too many: run generate.py"
    return models


def found(bench: Bench, graph: dict, bundle: str, devices: int) -> dict[str, np.ndarray]:
    """What one step of mg gives."""
    options = ("--steps=1", f"--global-batch={graph['batch']}", f"--devices={devices}")
    after, lines, _ = bench.train(bundle, data(graph, graph["rows"]), *options, state=variables(graph))
    metric = next(line.get("measured", 0.0) for line in lines if line["event"] == "step")
    gradients = {name: after[f"gradient/{name}"] for name in graph["variables"]}
    return {"loss": losses(lines)[0], "metric": metric, **gradients}


def check(graph: dict, expected: dict[str, np.ndarray], folder: str) -> list[str]:
    """The failures of one model."""
    os.environ["MGC_OPTIONS"] = "--check-arena" if graph["seed"] % 2 else ""
    bench, tolerance, failed = Bench(f"{folder}/{graph['seed']}"), TOLERANCE[graph["type"]], []
    try:
        bundle = bench.compile("model", mg_text(graph), batch=graph["unit"])
        for devices in DEVICES:
            for name, value in found(bench, graph, bundle, devices).items():
                off, largest = np.abs(value - expected[name]).max(), np.abs(expected[name]).max()
                if not off <= tolerance * largest:
                    failed.append(f"seed {graph['seed']}, {devices} devices: {name} is off by {off:.3g}, "
                                  f"its largest value is {largest:.3g}")
    except Exception as error:  # noqa: BLE001  every failure is listed
        failed.append(f"seed {graph['seed']}: {str(error)[:1500]}")
    return failed


def main() -> int:
    """Every model, or those of the seeds given; the failures at the end."""
    folder, *seeds = sys.argv[1:]
    models = read()
    uses = Counter(op for graph, _ in models for op in ops_of(graph))
    rare = [op for op in OPS if uses[op] < FEWEST_SEEDS]
    chosen = [(graph, expected, folder) for graph, expected in models if not seeds or str(graph["seed"]) in seeds]
    with multiprocessing.Pool(2) as pool:
        failed = [failure for failures in pool.starmap(check, chosen, chunksize=1) for failure in failures]
    failed += [f"mg.{op}: {uses[op]} models use it, expected {FEWEST_SEEDS} or more" for op in rare]
    print(f"{len(chosen)} models of {len(OPS)} ops on {DEVICES} devices, {len(failed)} failures", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
