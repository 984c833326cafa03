"""Bundles and states that earlier versions wrote still train, evaluate and predict; the numbers are NumPy's.

Inputs/linear-MAJOR.mgb: mgc linear.mlir --batch-size=4 --cpu=x86-64-v3, by the first version of that format;
Inputs/state-MAJOR.safetensors: three epochs of mgrun train on the data below, with --shuffle=none --global-batch=4 --save.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from crc32c import crc32c

MGRUN = os.environ["MGRUN"]
HERE = Path(__file__).parent / "Inputs"
MAJOR = 3
RATE, BATCH, EPOCHS = np.float32(0.1), 4, 3
X = (np.arange(30, dtype=np.float32).reshape(10, 3) % 7 - 3) / 4
T = np.stack([X @ np.float32([1, -2, 0.5]) + 1, X @ np.float32([0, 1, 1])], axis=1).astype(np.float32)


def trained(epochs: int) -> tuple:
    """Weights, bias and each epoch's mean loss, by hand."""
    w, b, losses = np.zeros((3, 2)), np.zeros(2), []
    for _ in range(epochs):
        total = 0.0
        for first in range(0, len(X), BATCH):
            x, t = X[first:first + BATCH], T[first:first + BATCH]
            error = x @ w + b - t
            total += (error ** 2).mean(axis=1).sum()
            w, b = w - RATE * x.T @ error / len(x), b - RATE * error.sum(axis=0) / len(x)
        losses.append(total / len(X))
    return w, b, losses


class Compat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        np.save(self.folder / "x.npy", X)
        np.save(self.folder / "t.npy", T)

    def mgrun(self, command: str, bundle: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([MGRUN, command, bundle, *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def data(self, option: str, *names: str) -> list:
        return [option, *(f"{name}={self.folder / name}.npy" for name in names), "--device=cpu"]

    def test_the_bundle_trains(self):
        for devices in (1, 2, 4):
            with self.subTest(devices=devices):
                log, state = self.folder / "log", self.folder / "state"
                self.mgrun("train", HERE / f"linear-{MAJOR}.mgb", *self.data("--train", "x", "t"), "--shuffle=none", f"--epochs={EPOCHS}",
                           f"--global-batch={BATCH}", f"--devices={devices}", f"--json={log}", f"--save={state}")
                losses = [line["loss"] for line in map(json.loads, log.read_text().splitlines()) if line["event"] == "epoch"]
                np.testing.assert_allclose(losses, trained(EPOCHS)[2], rtol=1e-5)
                self.assert_predicts(state)

    def assert_predicts(self, state: Path) -> None:
        output = self.folder / "y.npy"
        self.mgrun("predict", HERE / f"linear-{MAJOR}.mgb", "--load", state, *self.data("--input", "x"), "--output", output)
        w, b, _ = trained(EPOCHS)
        np.testing.assert_allclose(np.load(output), X @ w + b, rtol=1e-5, atol=1e-6)

    def test_the_state_loads(self):
        self.assert_predicts(HERE / f"state-{MAJOR}.safetensors")

    def test_another_format_is_refused_with_both_versions(self):
        data = bytearray((HERE / f"linear-{MAJOR}.mgb").read_bytes())
        for major, advice in ((MAJOR - 1, "compile the model again"), (MAJOR + 1, "use a newer mg")):
            struct.pack_into("<I", data, 8, major)
            struct.pack_into("<I", data, 60, crc32c(bytes(data[:60])))
            (self.folder / "other.mgb").write_bytes(data)
            error = self.mgrun("info", self.folder / "other.mgb", code=1).stderr
            self.assertRegex(error, rf"\Aerror: .*bundle format {major}\.0, but this runtime reads {MAJOR}\.x; {advice}[^\n]*\n\Z")


if __name__ == "__main__":
    unittest.main()
