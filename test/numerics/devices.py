# The same training on 1, 2, 4 and 8 devices, against each other and against a NumPy model: masks, partial batches, Adam; and bit
# for bit with --deterministic.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""devices.py FOLDER"""

from __future__ import annotations

import sys

import numpy as np
from harness import Bench, losses
from philox import fnv1a, row_words

BATCH, ROWS, SIZES, RATE, SEED = 24, 100, (13, 17, 9, 5), 0.2, 3


def model(element: str) -> str:
    """An MLP with dropout and Adam in f32 or f64."""
    groups = "\n".join(f"mg.variables @l{i} {{kernel: {a}x{b}x{element} = glorot_uniform, bias: {b}x{element} = zeros}}"
                       for i, (a, b) in enumerate(zip(SIZES, SIZES[1:])))
    return f"""mg.model @mlp {{
      {groups}
      mg.train @fit(%x: tensor<?x{SIZES[0]}x{element}>, %label: tensor<?xui8>) {{
        %h0 = mg.dense %x, @l0, relu
        %d0 = mg.dropout %h0, {RATE}
        %h1 = mg.dense %d0, @l1, relu
        %d1 = mg.dropout %h1, {RATE}
        %scores = mg.dense %d1, @l2
        %loss = mg.sparse_cross_entropy %scores, %label
        mg.minimize %loss with @adam {{learning_rate = 0.01}}
      }}
    }}"""


def numpy_losses(weights: list[np.ndarray], x: np.ndarray, labels: np.ndarray, steps: int) -> list[float]:
    """The same training written out: forward, backward, Adam with Keras' epsilon, in f64."""
    weights = [w.astype(np.float64) for w in weights]
    m, v, found = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights], []
    keys = [fnv1a(f"mlp/fit/{i}") for i in range(2)]
    for step in range(steps):
        start = step * BATCH % (-(-ROWS // BATCH) * BATCH)
        batch, label = x[start:start + BATCH].astype(np.float64), labels[start:start + BATCH]
        rows, kept, inputs = len(batch), [], [batch]
        for layer in range(3):
            z = inputs[-1] @ weights[2 * layer] + weights[2 * layer + 1]
            if layer == 2:
                break
            mask = np.stack([row_words(z.shape[1], row, step, keys[layer], SEED) < np.floor((1 - RATE) * 2**32) for row in range(rows)])
            kept.append(np.where(mask & (z > 0), 1 / (1 - RATE), 0))
            inputs.append(z * kept[-1])
        shifted = z - z.max(1, keepdims=True)
        probabilities = np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True)
        found.append(float(-np.log(probabilities[np.arange(rows), label]).mean()))
        delta = probabilities.copy()
        delta[np.arange(rows), label] -= 1
        delta /= rows
        gradients = [None] * 6
        for layer in (2, 1, 0):
            gradients[2 * layer], gradients[2 * layer + 1] = inputs[layer].T @ delta, delta.sum(0)
            if layer:
                delta = (delta @ weights[2 * layer].T) * kept[layer - 1]
        rate = 0.01 * np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
        for i, g in enumerate(gradients):
            m[i], v[i] = 0.9 * m[i] + 0.1 * g, 0.999 * v[i] + 0.001 * g * g
            weights[i] = weights[i] - rate * m[i] / (np.sqrt(v[i]) + 1e-7)
    return found


def check(bench: Bench, element: str, dtype: type) -> None:
    """100 losses against NumPy, then weights across device counts."""
    rng = np.random.default_rng(5)
    x, labels = rng.normal(size=(ROWS, SIZES[0])).astype(dtype), rng.integers(0, SIZES[-1], ROWS).astype(np.uint8)
    weights = []
    for a, b in zip(SIZES, SIZES[1:]):
        weights += [(rng.normal(size=(a, b)) / np.sqrt(a)).astype(dtype), rng.normal(size=b).astype(dtype) * dtype(0.1)]
    names = [f"l{i}.{part}" for i in range(3) for part in ("kernel", "bias")]
    bundle = bench.compile(f"mlp_{element}", model(element), batch=3)
    state, after = dict(zip(names, weights)), {}
    for devices in (1, 2, 4, 8):
        options = (f"--devices={devices}", f"--global-batch={BATCH}", f"--seed={SEED}")
        after[devices], lines, _ = bench.train(bundle, {"x": x, "label": labels}, "--steps=100", *options, state=state)
        expected = numpy_losses(weights, x, labels, 100)
        np.testing.assert_allclose(losses(lines), expected, rtol=0, atol=1e-10 if element == "f64" else 1e-5, err_msg=f"{element}, {devices} devices")
        after[f"short {devices}"], _, _ = bench.train(bundle, {"x": x, "label": labels}, "--steps=10", *options, state=state)
    for devices in (2, 4, 8):
        apart = np.concatenate([np.abs(after[1][n] - after[devices][n]).reshape(-1) for n in names])
        short = max(np.abs(after["short 1"][n] - after[f"short {devices}"][n]).max() for n in names)
        if element == "f64":
            assert apart.max() < 1e-12, (devices, apart.max())
        else:
            assert short < 1e-6 and np.mean(apart < 1e-5) > 0.999, (devices, short, apart.max())


PENALIZED = """mg.model @m {
  mg.variables @l {kernel: 13x5xELEMENT = glorot_uniform, bias: 5xELEMENT = zeros}
  mg.train @fit(%x: tensor<?x13xELEMENT>, %label: tensor<?xui8>) {
    %scores = mg.dense %x, @l
    %fit = mg.sparse_cross_entropy %scores, %label
    %kernel = mg.get @l::@kernel
    %squares = mg.multiply %kernel, %kernel
    %sum = mg.reduce_sum %squares, axes = [0, 1]
    %penalty = mg.multiply %sum by 0.01
    %loss = mg.add %fit, %penalty
    %right = mg.correct %scores, %label
    mg.metric "accuracy", %right
    mg.minimize %loss with @nadam
  }
}"""


def facts(lines: list[dict]) -> list[dict]:
    """What a run printed, without times and the number of devices."""
    return [{key: value for key, value in line.items() if key not in ("seconds", "devices", "workers")} for line in lines if line["event"] in ("step", "epoch", "test")]


def check_bits(bench: Bench, element: str, dtype: type) -> None:
    """--deterministic: state and every printed figure, over a shuffled epoch with a short batch and empty devices, on any devices and threads."""
    rng = np.random.default_rng(7)
    data = {"x": rng.normal(size=(ROWS, SIZES[0])).astype(dtype), "label": rng.integers(0, 5, ROWS).astype(np.uint8)}
    for name, text, unit, counts in ((f"mlp_{element}", model(element), 3, (1, 2, 4, 8)), (f"penalized_{element}", PENALIZED.replace("ELEMENT", element), 2, (1, 3, 6, 12)),
                                     (f"uneven_{element}", model(element), 5, (1, 5))):
        bundle, expected = bench.compile(name, text, batch=unit), None
        for devices in counts:
            for threads in (1, 2, 3):
                state, lines, _ = bench.train(bundle, data, "--deterministic", "--epochs=3", "--validation-split=13", f"--global-batch={BATCH}",
                                              f"--devices={devices}", f"--threads={threads}", f"--seed={SEED}", shuffle="full")
                found = (facts(lines), {key: array.tobytes() for key, array in state.items()})
                assert len(found[0]) == 3 * 4 + 3, found[0]
                expected = expected or found
                assert found == expected, f"{name} differs between 1 device and {devices} with {threads} threads"
    _, _, printed = bench.train(bench.compile("refused", model(element), batch=3), data, "--deterministic", f"--global-batch={BATCH}", "--devices=3", status=1)
    assert "deterministic sums of 8 units of 3 rows (a global batch of 24) need 1, 2, 4 or 8 devices, found 3" in printed, printed


def check_resume(bench: Bench, element: str, dtype: type) -> None:
    """Stopped in the middle of an epoch and gone on with on other devices: the bits of the run that was not stopped."""
    rng = np.random.default_rng(9)
    data = {"x": rng.normal(size=(ROWS, SIZES[0])).astype(dtype), "label": rng.integers(0, 5, ROWS).astype(np.uint8)}
    bundle, stopped = bench.compile(f"resumed_{element}", model(element), batch=3), bench.folder / "stopped.safetensors"

    def run(*options: str) -> tuple[dict, list]:
        state, lines, _ = bench.train(bundle, data, "--deterministic", f"--global-batch={BATCH}", "--epochs=3", "--validation-split=13", *options, shuffle="full")
        epochs = [{key: value for key, value in line.items() if key != "seconds"} for line in lines if line["event"] == "epoch"]
        return {key: array.tobytes() for key, array in state.items()}, epochs

    whole = run("--devices=2", "--seed=3", "--set", "learning_rate=0.02")
    for steps, before, after in ((1, 1, 8), (3, 8, 2), (4, 2, 4), (6, 4, 1), (11, 1, 2)):
        run(f"--devices={before}", "--seed=3", "--set", "learning_rate=0.02", f"--steps={steps}")
        (bench.folder / "saved.safetensors").replace(stopped)
        state, epochs = run(f"--devices={after}", "--load", str(stopped), "--resume")
        assert state == whole[0], f"{element}: the state differs when stopped after {steps} steps"
        assert epochs == whole[1][steps // 4:], (steps, epochs, whole[1])
    _, _, printed = bench.train(bundle, data, "--load", str(bench.folder / "saved.safetensors"), "--resume", "--epochs=3", status=1)
    assert "the run to go on with has 3 of 3 epochs behind it: ask for more epochs" in printed, printed


def main() -> int:
    """Both element types."""
    bench = Bench(sys.argv[1])
    for element, dtype in (("f64", np.float64), ("f32", np.float32)):
        check(bench, element, dtype)
        check_bits(bench, element, dtype)
        check_resume(bench, element, dtype)
    print("100 losses equal NumPy's on 1, 2, 4 and 8 devices")
    return 0


if __name__ == "__main__":
    sys.exit(main())
