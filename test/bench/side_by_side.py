# Compares programs that time the same work: several rounds, one after the other in each, and the smallest times over each other.
# On a shared machine only such ratios mean something; a time by itself does not.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""side_by_side.py [--rounds=R] NAME=COMMAND…

Each command prints one JSON object a run, with `step_us_min` in microseconds, as `mgrun bench` does. One JSON object comes out:
the processor, and for each name the smallest step_us_min of all rounds and its ratio to the smallest of the other commands.

    side_by_side.py mg='build/bin/mgrun bench build/mnist.mgb --devices=1 --threads=2' jax='python3 test/bench/jax_mlp.py --threads=2'
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path


def processor() -> str:
    """The CPU's name, the vector width that matters here, and the cores this process may use."""
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    vectors = "AVX-512" if "avx512f" in facts.get("flags", "").split() else "AVX2"
    family = f"family {facts.get('cpu family')} model {facts.get('model')}"
    return f"{facts.get('model name')} ({family}), {vectors}, {len(os.sched_getaffinity(0))} cores"


def step_time(name: str, command: str) -> float:
    """The step_us_min of one run."""
    ran = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    try:
        if ran.returncode == 0:
            return float(json.loads(ran.stdout.strip().splitlines()[-1])["step_us_min"])
    except (IndexError, KeyError, ValueError):
        pass
    sys.exit(f"error: {name}: exit status {ran.returncode}, expected a JSON line with step_us_min from: {command}\n{ran.stdout}{ran.stderr}")


def main() -> None:
    """Run all, print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    commands = dict(item.split("=", 1) for item in arguments.commands if "=" in item)
    if len(commands) != len(arguments.commands) or arguments.rounds < 1:
        parser.error("expected at least one round and different names, each as NAME=COMMAND")
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            times[name].append(step_time(name, command))
    best = {name: min(found) for name, found in times.items()}
    report = {"processor": processor(), "rounds": arguments.rounds}
    for name in commands:
        others = [time for other, time in best.items() if other != name]
        report[name] = {"step_us_min": best[name], **({"ratio": round(best[name] / min(others), 3)} if others else {})}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
