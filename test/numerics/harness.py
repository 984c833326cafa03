# Compiles model texts with mgc and runs them with mgrun on NumPy arrays; shared by the numeric tests and the cases.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set MGC and MGRUN to the tools, MGC_OPTIONS to what every compilation gets besides. Everything is written below the folder given to Bench."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np

TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
MLIR = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.bool_): "i1", np.dtype(np.int64): "i64",
        np.dtype(np.int32): "i32", np.dtype(np.uint8): "ui8"}


class Failed(Exception):
    """A tool ended with another exit status than 0."""


def run(*command: str, status: int = 0) -> subprocess.CompletedProcess:
    """The finished tool; Failed with what it printed if its exit status is another one."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if ran.returncode != status:
        raise Failed(f"exit status {ran.returncode}, expected {status}: {' '.join(command)}\n{ran.stdout}{ran.stderr}")
    return ran


def read_state(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            arrays[name] = np.frombuffer(data[8 + size + begin:8 + size + end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def write_state(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes a safetensors file of variables."""
    header, blobs, offset = {}, [], 0
    for name, array in arrays.items():
        blob = np.ascontiguousarray(array).tobytes()
        dtype = next(key for key, value in TYPES.items() if value == array.dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


class Bench:
    """One folder of bundles and arrays."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name: str, text: str, batch: int = 4, status: int = 0) -> str:
        """The bundle's path; with another status, what mgc printed on standard error."""
        source, bundle = self.folder / f"{name}.mlir", self.folder / f"{name}.mgb"
        source.write_text(text)
        ran = run(os.environ["MGC"], str(source), "-o", str(bundle), f"--batch-size={batch}",
                  *os.environ.get("MGC_OPTIONS", "").split(), status=status)
        return str(bundle) if status == 0 else ran.stderr

    def inputs(self, arrays: dict[str, np.ndarray]) -> list[str]:
        """NAME=FILE arguments."""
        arguments = []
        for name, array in arrays.items():
            path = self.folder / f"{name}.npy"
            np.save(path, array)
            arguments.append(f"{name}={path}")
        return arguments

    def predict(self, bundle: str, arrays: dict[str, np.ndarray], devices: int, function: str) -> np.ndarray:
        """What `mgrun predict` writes."""
        output, state = self.folder / "output.npy", self.folder / "none.safetensors"
        write_state(state, {})
        run(os.environ["MGRUN"], "predict", bundle, "--load", str(state), "--function", function, "--device=cpu", f"--devices={devices}", "--input",
            *self.inputs(arrays), "--output", str(output))
        return np.load(output)

    def train(self, bundle: str, arrays: dict[str, np.ndarray], *options: str, state: dict[str, np.ndarray] | None = None,
              status: int = 0, shuffle: str = "none") -> tuple[dict[str, np.ndarray], list[dict], str]:
        """State after training, the JSON lines of its steps and epochs, and standard error."""
        saved, log = self.folder / "saved.safetensors", self.folder / "log.json"
        log.unlink(missing_ok=True)
        extra = []
        if state is not None:
            write_state(self.folder / "loaded.safetensors", state)
            extra = ["--load", str(self.folder / "loaded.safetensors")]
        ran = run(os.environ["MGRUN"], "train", bundle, "--device=cpu", f"--shuffle={shuffle}", "--progress=none", "--save", str(saved), "--json", str(log),
                  "--json-steps=1", *extra, *options, "--train", *self.inputs(arrays), status=status)
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return (read_state(saved) if status == 0 else {}), lines, ran.stderr


def losses(lines: list[dict], event: str = "step") -> list[float]:
    """The losses of one kind of event."""
    return [line["loss"] for line in lines if line["event"] == event]


def dense(array: np.ndarray) -> str:
    """An array as an MLIR constant with its type."""
    def text(value: np.ndarray) -> str:
        if value.ndim:
            return "[" + ", ".join(text(item) for item in value) + "]"
        return repr(float(value)) if value.dtype.kind == "f" else str(int(value))
    shape = "".join(f"{extent}x" for extent in array.shape)
    return f"dense<{text(array)}> : tensor<{shape}{MLIR[array.dtype]}>"
