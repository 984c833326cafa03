# The MNIST example as its run.sh runs it: compiled, trained 5 epochs on 2 devices, and its output as the README says; then the
# accuracy of seeds 0 to 4 on 2 devices and on 1.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""train_mnist.py MGC MGRUN WORK-FOLDER. Exit status 0, or 1 with what was found and what was expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MNIST = Path(__file__).resolve().parents[2] / "examples" / "mnist"
LOWEST_ACCURACY = 0.9685  # of each seed on 2 devices
LOWEST_MEAN = 0.976  # of all seeds on 1

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
    return found


def train(mgrun: str, bundle: Path, devices: int, seed: int) -> str:
    """What `mgrun train` prints."""
    data = MNIST / "data"
    return run(mgrun, "train", str(bundle),
               "--train", f"image={data}/train-images-idx3-ubyte", f"label={data}/train-labels-idx1-ubyte",
               "--validation-split=5000",
               "--test", f"image={data}/t10k-images-idx3-ubyte", f"label={data}/t10k-labels-idx1-ubyte",
               "--epochs=5", f"--devices={devices}", f"--seed={seed}")


def accuracy(printed: str) -> float:
    """The figure after `Test accuracy:`; 0 where there is none."""
    match = re.search(r"Test accuracy: (0\.\d{4})", printed)
    return float(match[1]) if match else 0.0


def main() -> int:
    """Compile, train, look at the output."""
    mgc, mgrun, work = sys.argv[1:]
    bundle = Path(work) / "mnist.mgb"
    run(mgc, str(MNIST / "mlp.mlir"), "-o", str(bundle))
    printed = train(mgrun, bundle, devices=2, seed=0)
    print(printed)
    found = faults(printed)
    on_two = [accuracy(printed)] + [accuracy(train(mgrun, bundle, 2, seed)) for seed in range(1, 5)]
    on_one = [accuracy(train(mgrun, bundle, 1, seed)) for seed in range(5)]
    print(f"test accuracy of seeds 0-4: on 2 devices {on_two}, on 1 device {on_one}")
    if min(on_two) < LOWEST_ACCURACY:
        found.append(f"found a test accuracy of {min(on_two)} on 2 devices, expected at least {LOWEST_ACCURACY}")
    if sum(on_one) / 5 < LOWEST_MEAN:
        found.append(f"found a mean test accuracy of {sum(on_one) / 5:.4f} on 1 device, expected at least {LOWEST_MEAN}")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
