# The MNIST example as its run.sh runs it: compiled, trained 5 epochs on 2 devices, and its output as the README says.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""train_mnist.py MGC MGRUN WORK-FOLDER. Exit status 0, or 1 with what was found and what was expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MNIST = Path(__file__).resolve().parents[2] / "examples" / "mnist"
LOWEST_ACCURACY = 0.9685

# 55,000 rows in steps of 2 × 64.
EPOCH = re.compile(r"430/430 - \d+s - loss: \d\.\d{4} - accuracy: 0\.\d{4} - val_loss: \d\.\d{4} - val_accuracy: 0\.\d{4}")
LINES = [
    ("Detected N GPUs", re.compile(r"Detected \d+ GPUs?"), 1),
    ("Using 2 devices (cpu)", re.compile(r"Using 2 devices \(cpu\)"), 1),
    ("an epoch's line of 430 steps", EPOCH, 5),
    ("Test accuracy: 0.…", re.compile(r"Test accuracy: 0\.\d{4}"), 1),
]


def run(*command: str) -> str:
    """What a command prints; ends the test when it fails."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"exit status {ran.returncode}, expected 0: {' '.join(command)}\n{ran.stdout}")
    return ran.stdout


def faults(printed: str) -> list[str]:
    """What the training's output lacks."""
    lines = printed.splitlines()
    found = []
    for words, pattern, expected in LINES:
        count = sum(bool(pattern.search(line)) for line in lines)
        if count != expected:
            found.append(f"found {count} lines such as '{words}', expected {expected}")
    accuracy = re.search(r"Test accuracy: (0\.\d{4})", printed)
    if accuracy and float(accuracy[1]) < LOWEST_ACCURACY:
        found.append(f"found a test accuracy of {accuracy[1]}, expected at least {LOWEST_ACCURACY}")
    return found


def main() -> int:
    """Compile, train, look at the output."""
    mgc, mgrun, work = sys.argv[1:]
    bundle = Path(work) / "mnist.mgb"
    data = MNIST / "data"
    run(mgc, str(MNIST / "mlp.mlir"), "-o", str(bundle))
    printed = run(mgrun, "train", str(bundle),
                  "--train", f"image={data}/train-images-idx3-ubyte", f"label={data}/train-labels-idx1-ubyte",
                  "--validation-split=5000",
                  "--test", f"image={data}/t10k-images-idx3-ubyte", f"label={data}/t10k-labels-idx1-ubyte",
                  "--epochs=5", "--devices=2")
    print(printed)
    found = faults(printed)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
