# Walks every op record: its value against the record's NumPy reference on 1, 2 and 4 devices, its derivative against central
# differences of the reference in f64. A record without example is a failure unless it is listed here with its reason.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""walk.py OPS.json FOLDER"""

from __future__ import annotations

import json
import math
import re
import sys

import numpy as np
import numpy  # noqa: F401  the references say numpy.
from harness import Bench, Failed, MLIR, dense

WITHOUT_EXAMPLE = {
    "mg.control": "a value of the runtime: the training tests use all four",
    "mg.random_bits": "compared with Philox in philox.py",
    "mg.keep_mask": "added by the compiler; philox.py compares its values",
    "mg.mask_rows": "added by the compiler; devices.py and cases compare partial batches",
    "mg.row_sums": "added by the compiler; devices.py compares losses and weights of partial batches",
    "mg.first_bad_row": "added by the compiler; cases checks the row that is named",
}
WITHOUT_GRADIENT = {"mg.dropout": "random in training: philox.py compares its derivative with the mask"}
NUMPY = {"f64": np.float64, "f32": np.float32, "i1": np.bool_, "i32": np.int32, "i64": np.int64, "ui8": np.uint8}
ROWS = 10
erf = np.vectorize(math.erf)


def operands(record: dict, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random operands as the record's `sample` says."""
    arrays = {}
    for part in filter(None, record["sample"].split(", ")):
        name, rest = part.split(": ")
        words = rest.split()
        *extents, element = words[0].split("x")
        shape = [rows if extent == "?" else int(extent) for extent in extents]
        if "below" in words:
            arrays[name] = rng.integers(0, int(words[-1]), shape).astype(NUMPY[element])
        elif element == "i1":
            arrays[name] = rng.integers(0, 2, shape).astype(np.bool_)
        elif element.startswith(("i", "ui")):
            arrays[name] = rng.integers(0, 100, shape).astype(NUMPY[element])
        else:
            values = rng.normal(size=shape)
            arrays[name] = (np.abs(values) + 0.1 if "positive" in words else values).astype(NUMPY[element])
    return arrays


def attributes(example: str) -> dict:
    """Attributes of the example, by name, for the reference."""
    found = {key: json.loads(value) for key, value in re.findall(r"(\w+) = (\[[^\]]*\]|\d+)", example)}
    if match := re.search(r"to (\w+)", example):
        found["to"] = NUMPY.get(match[1])
    if match := re.search(r", (\d+)(?: to|$)", example):
        found["depth"] = found["extent"] = int(match[1])
    if match := re.search(r"dense<(.*?)>", example):
        found["value"] = np.array(json.loads(match[1]))
    if "step" in example:
        found["stride"] = 2
    return found


def reference(record: dict, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What NumPy gives."""
    with np.errstate(all="ignore"):
        return np.asarray(eval(record["reference"], globals(), {**attributes(record["example"]), **arrays}))  # noqa: S307


def tensor(array: np.ndarray, batch: bool) -> str:
    """The type in a model file."""
    extents = ["?" if batch and i == 0 else str(extent) for i, extent in enumerate(array.shape)]
    return f"tensor<{'x'.join([*extents, MLIR[array.dtype]])}>"


def check_value(bench: Bench, record: dict, rng: np.random.Generator) -> None:
    """Rows through mgrun predict, on 1, 2 and 4 devices, bit for bit the same."""
    name = record["op"].removeprefix("mg.")
    fixed = {part.split(": ")[0] for part in record["sample"].split(", ") if "?" not in part}
    arrays = operands(record, ROWS, rng)
    rows = {key: value for key, value in arrays.items() if key not in fixed}
    expected = reference(record, arrays)
    if not rows or expected.shape[:1] != (ROWS,):
        return check_constant(bench, record, arrays, expected)
    constants = "\n".join(f"%{key} = mg.constant {dense(arrays[key])}" for key in fixed)
    arguments = ", ".join(f"%{key}: {tensor(value, True)}" for key, value in rows.items())
    text = (f"mg.model @walk {{\n mg.func @{name}({arguments}) -> {tensor(expected, True)} {{\n{constants}\n"
            f"%result = {record['example']}\nmg.return %result\n}}\nmg.predict @{name}\n}}")
    bundle = bench.compile(f"value_{name}", text)
    results = [bench.predict(bundle, rows, devices, name) for devices in (1, 2, 4)]
    tolerance = 1e-6 if expected.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(results[0], expected, rtol=tolerance, atol=tolerance)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def check_constant(bench: Bench, record: dict, arrays: dict[str, np.ndarray], expected: np.ndarray) -> None:
    """An op without rows: its value, as f64, repeated for each row."""
    name = record["op"].removeprefix("mg.")
    constants = "\n".join(f"%{key} = mg.constant {dense(value)}" for key, value in arrays.items())
    shape = "x".join(["?", *map(str, expected.shape), "f64"])
    cast = "%plain = mg.cast %result to f64" if expected.dtype != np.float64 else ""
    text = (f"mg.model @walk {{\n mg.func @{name}(%row: tensor<?x{'1x' * expected.ndim}f64>) -> tensor<{shape}> {{\n{constants}\n"
            f"%result = {record['example']}\n{cast}\n%sum = mg.add %row, %{'plain' if cast else 'result'}\nmg.return %sum\n}}\nmg.predict @{name}\n}}")
    bundle = bench.compile(f"value_{name}", text)
    row = np.zeros((ROWS,) + (1,) * expected.ndim)
    for devices in (1, 2):
        result = bench.predict(bundle, {"row": row}, devices, name)
        np.testing.assert_allclose(result, np.broadcast_to(expected, (ROWS, *expected.shape)), rtol=1e-12, atol=1e-12)


def check_gradient(bench: Bench, record: dict, rng: np.random.Generator) -> None:
    """One step of plain gradient descent with rate 1 on Σ c·y: the change is the gradient."""
    name = record["op"].removeprefix("mg.")
    arrays = operands(record, 3, rng)
    trained = {key: value.astype(np.float64) for key, value in arrays.items() if value.dtype.kind == "f"}
    fixed = {key: value for key, value in arrays.items() if value.dtype.kind != "f"}
    if not trained or "to f32" in record["example"]:
        return
    weights = rng.normal(size=reference(record, {**fixed, **trained}).shape)
    lines = [f"%{key} = mg.get @v::@{key}" for key in trained] + [f"%{key} = mg.constant {dense(value)}" for key, value in fixed.items()]
    axes = ", ".join(map(str, range(weights.ndim)))
    variables = ", ".join(f"{key}: {'x'.join([*map(str, value.shape), 'f64'])} = zeros" for key, value in trained.items())
    body = "\n".join([*lines, f"%result = {record['example']}", f"%c = mg.constant {dense(weights)}", "%weighted = mg.multiply %result, %c",
                      f"%sum = mg.reduce_sum %weighted, axes = [{axes}]", "%loss = mg.multiply %one, %sum", "mg.minimize %loss with @sgd {learning_rate = 1.0}"])
    text = f"mg.model @walk {{\nmg.variables @v {{{variables}}}\nmg.train @fit(%one: tensor<?xf64>) {{\n{body}\n}}\n}}"
    bundle = bench.compile(f"gradient_{name}", text, batch=1)
    state = {f"v.{key}": value for key, value in trained.items()}
    after, _, _ = bench.train(bundle, {"one": np.ones(1)}, "--steps=1", "--devices=1", state=state)
    for key, value in trained.items():
        numeric = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            ends = []
            for sign in (1, -1):
                moved = {**fixed, **trained, key: value.copy()}
                moved[key][index] += sign * 1e-6
                ends.append(float(np.sum(weights * reference(record, moved))))
            numeric[index] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(value - after[f"v.{key}"], numeric, rtol=2e-6, atol=2e-8, err_msg=f"d_{key}")


def main() -> int:
    """Every record; the failures at the end."""
    records, bench = json.load(open(sys.argv[1])), Bench(sys.argv[2])
    failed, only = [], sys.argv[3:]
    for record in records:
        if only and record["op"] not in only:
            continue
        if not record["example"]:
            if record["op"] not in WITHOUT_EXAMPLE:
                failed.append(f"{record['op']}: the record has no example, sample and reference")
            continue
        checks = [check_value] + ([check_gradient] if record["differentiable"] and record["op"] not in WITHOUT_GRADIENT else [])
        for check in checks:
            try:
                check(bench, record, np.random.default_rng(7))
            except (AssertionError, Failed, Exception) as error:  # noqa: BLE001  every failure is listed
                failed.append(f"{record['op']}: {check.__name__}: {str(error)[:1500]}")
    print(f"{len(records)} records walked, {len(failed)} failures")
    print("\n\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
