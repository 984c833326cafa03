# Random entry functions through the schedule stage, its commands then run on symbols: every array ends with what the function
# returns for it, no live byte is overwritten, and the arena has the size that its lifetimes ask for.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MG_OPT set."""

from __future__ import annotations

import os
import random
import re
import subprocess
import unittest

MG_OPT = os.environ["MG_OPT"]
ALIGNMENT = 64
TYPES = {"f16": ("tensor<16xf32>", 64), "f4": ("tensor<4xf32>", 16), "d8": ("tensor<8xf64>", 64)}
VIEW = "tensor<2x8xf32>"  # of an f16
ARRAYS = [("variable", f"w{i}", kind) for i, kind in enumerate(("f16", "f16", "f4", "d8"))] + [
    ("slot", f"m{i}", kind) for i, kind in enumerate(("f16", "f4"))] + [
    ("gradient", f"w{i}", kind) for i, kind in enumerate(("f16", "f16", "f4", "d8"))]
WINDOW = {"gradient"}  # dead after the update that reduces them
OFFSETS = {array[:2]: 64 * i for i, array in enumerate(ARRAYS)}
STATE = f"mgrt.state {64 * len(ARRAYS)} {{\n" + "".join(
    f'  mgrt.array {role} "{name}"{"" if role == "variable" else " of " + chr(34) + "fit" + chr(34)} : {TYPES[kind][0]} at {OFFSETS[role, name]}\n'
    for role, name, kind in ARRAYS) + "}\n"


class Function:
    """A random entry: its text, what each of its arrays holds at the end, and which results may lie on which operands."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.name, self.rng = f"entry{number}", rng
        self.values: list[tuple[str, str, object]] = []  # name, type, symbol
        self.lines: list[str] = []
        self.kernels: set[str] = set()
        self.shareable: dict[str, set[tuple[int, int]]] = {}  # by label
        self.ends: dict[tuple[str, str], object] = {}
        self.arguments = rng.sample(ARRAYS, rng.randint(1, 9))
        for role, name, kind in self.arguments:
            self.values.append((f"{role}_{name}", TYPES[kind][0], (role, name)))
        if rng.random() < 0.5:
            for i, value in enumerate([value for value in self.values if value[0].startswith("gradient")]):
                self.reduce(f"g{i}", value, "sum")
        for step in range(rng.randint(1, 14)):
            rng.choices((self.launch, self.reduce, self.view), (7, 2, 1))[0](f"v{step}")
        self.finish()

    def launch(self, label: str) -> None:
        """A kernel of up to three operands and two results."""
        operands = self.rng.choices(self.values, k=self.rng.randint(0, 3))
        results = [self.rng.choice(list(TYPES))] + [self.rng.choice(list(TYPES))] * self.rng.randint(0, 1)
        types = [TYPES[kind][0] for kind in results]
        pairs = {(i, r) for i, operand in enumerate(operands) for r, kind in enumerate(types) if operand[1] == kind and self.rng.random() < 0.7}
        signature = f"({', '.join(o[1] for o in operands)}) -> ({', '.join(types)})"
        kernel = "_".join(["from", *(o[1][7:-1] for o in operands), "to", *(kind[7:-1] for kind in types)])
        self.kernels.add(f"func.func private @{kernel}{signature} attributes {{mg.kernel}}")
        listed = ", ".join(f"array<i64: {i}, {r}>" for i, r in sorted(pairs))
        self.lines.append(f"  %{label}:{len(results)} = mg.launch @{kernel}({', '.join('%' + o[0] for o in operands)}) {{inplace = [{listed}]}} : "
                          f'{signature} loc("{label}")')
        self.shareable[label] = pairs
        for r, kind in enumerate(types):
            self.values.append((f"{label}#{r}", kind, (label, r, *(o[2] for o in operands))))

    def reduce(self, label: str, value: tuple | None = None, how: str | None = None) -> None:
        """An all-reduce."""
        name, kind, symbol = value or self.rng.choice(self.values)
        how = how or self.rng.choice(("sum", "max"))
        self.lines.append(f"  %{label} = shard.all_reduce %{name} on @devices grid_axes = [0] reduction = {how} : {kind} -> {kind}")
        self.values.append((label, kind, (how, symbol)))

    def view(self, label: str) -> None:
        """The same bytes under another shape."""
        name, kind, symbol = self.rng.choice(self.values)
        if kind not in (VIEW, TYPES["f16"][0]):
            return
        other, shape = (TYPES["f16"][0], "[16]") if kind == VIEW else (VIEW, "[2, 8]")
        self.lines.append(f"  %{label} = mg.reshape %{name}, shape = {shape} : {kind} -> {other}")
        self.values.append((label, other, symbol))

    def finish(self) -> None:
        """Random values into random arrays; arrays that are not returned keep what they hold, except windows."""
        returned = []
        for role, name, kind in self.rng.sample(ARRAYS, self.rng.randint(0, 5)):
            fitting = [value for value in self.values if value[1] == TYPES[kind][0]]
            if fitting:
                value = self.rng.choice(fitting[-6:])
                returned.append((value, role, name, kind))
                self.ends[role, name] = value[2]
        for role, name, _ in ARRAYS:
            if role not in WINDOW:
                self.ends.setdefault((role, name), (role, name))
        arguments = ", ".join(f'%{r}_{n}: {TYPES[k][0]} {{mg.role = "{r}", mg.name = "{n}"}}' for r, n, k in self.arguments)
        results = ", ".join(f'{TYPES[k][0]} {{mg.role = "{r}", mg.name = "{n}"}}' for _, r, n, k in returned)
        values = f" {', '.join('%' + v[0] for v, *_ in returned)} : {', '.join(v[1] for v, *_ in returned)}" if returned else ""
        self.text = (f'func.func @{self.name}({arguments}) -> ({results}) attributes {{mg.entry = "update", mg.owner = "fit"}} {{\n'
                     + "\n".join(self.lines) + f"\n  return{values}\n}}\n")


RANGE = re.compile(r'<(state|arena|temporary), (\d+), (\d+)(?:, "[^"]*")?>')
Range = tuple[str, int, int]


def ranges(text: str) -> list[Range]:
    """The ranges of a command's text."""
    return [(region, int(offset), int(size)) for region, offset, size in RANGE.findall(text)]


def meet(a: Range, b: Range) -> bool:
    """Whether the two share a byte; temporaries are numbered and meet only themselves."""
    if a[0] != b[0]:
        return False
    return a[1] == b[1] if a[0] == "temporary" else a[1] < b[1] + b[2] and b[1] < a[1] + a[2]


class Memory:
    """Symbols by the range that they were written to."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.content = {("state", OFFSETS[role, name], TYPES[kind][1]): (role, name) for role, name, kind in ARRAYS}

    def overlapping(self, range_: Range) -> list[Range]:
        """What shares a byte with the range."""
        return [other for other in self.content if meet(other, range_)]

    def read(self, range_: Range) -> object:
        """What was written there, whole."""
        if range_ not in self.content:
            raise AssertionError(f"{range_} is read but does not hold one whole value: {self.overlapping(range_)}")
        return self.content[range_]

    def write(self, range_: Range, symbol: object) -> None:
        """Overwrites the range."""
        for other in self.overlapping(range_):
            del self.content[other]
        self.content[range_] = symbol

    def run(self, command: str) -> None:
        """One command's line."""
        kind, rest = command.split(" ", 1)
        {"mgrt.launch": self.launch, "mgrt.copy": self.copy, "mgrt.fill": self.fill, "mgrt.all_reduce": self.reduce}[kind](rest)

    def copy(self, rest: str) -> None:
        source, target = ranges(rest)
        self.write(target, self.read(source))

    def fill(self, rest: str) -> None:
        self.write(ranges(rest)[0], "filled")

    def reduce(self, rest: str) -> None:
        how, (target,) = rest.split()[0], ranges(rest)
        inside = self.overlapping(target)
        if not inside or any(o[1] < target[1] or o[1] + o[2] > target[1] + target[2] for o in inside):
            raise AssertionError(f"{rest} reduces parts of {inside}")
        for other in inside:
            self.content[other] = (how, self.content[other])

    def launch(self, rest: str) -> None:
        reads, writes = map(ranges, rest.split(" -> "))
        label = re.search(r'name "(\w+)"', rest)[1]
        for r, target in enumerate(writes):
            met = {(i, r) for i, source in enumerate(reads) if meet(source, target)}
            if met - self.function.shareable[label] or any(reads[i] != target for i, _ in met):
                raise AssertionError(f"{rest}: result {r} lies on an operand that is read elsewhere")
            if any(meet(other, target) for other in writes[:r]):
                raise AssertionError(f"{rest}: two results in one place")
        symbols = [self.read(source) for source in reads]
        for r, target in enumerate(writes):
            self.write(target, (label, r, *symbols))


def entries(text: str) -> dict[str, tuple[str, list[str]]]:
    """Head and commands of each entry."""
    return {name: (head, [line.strip() for line in body.strip().splitlines()])
            for name, head, body in re.findall(r"mgrt\.entry @(\w+) (.*?)\{\n(.*?)^  \}", text, re.DOTALL | re.MULTILINE)}


def live_bytes(commands: list[str]) -> int:
    """The most bytes of temporaries between a first and a last use."""
    lives: dict[int, list[int]] = {}
    for position, command in enumerate(commands):
        for region, number, size in ranges(command):
            if region == "temporary":
                life = lives.setdefault(number, [position, position, 0])
                life[1:] = position, max(life[2], -(-size // ALIGNMENT) * ALIGNMENT)
    return max((sum(size for first, last, size in lives.values() if first <= at <= last) for at in range(len(commands))), default=0)


class RandomEntries(unittest.TestCase):
    def setUp(self):
        rng = random.Random(7)
        self.functions = [Function(i, rng) for i in range(400)]
        kernels = sorted(set().union(*(function.kernels for function in self.functions)))
        self.text = "shard.grid @devices(shape = ?)\n" + STATE + "\n".join(kernels) + "\n" + "".join(f.text for f in self.functions)

    def commands(self, *passes: str) -> dict[str, tuple[str, list[str]]]:
        """The entries behind the passes."""
        ran = subprocess.run([MG_OPT, "-", *passes], input=self.text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        found = entries(ran.stdout)
        self.assertEqual(len(found), len(self.functions))
        return found

    def run_all(self, *passes: str) -> dict[str, tuple[str, list[str]]]:
        """Runs every entry and compares what its arrays hold."""
        found = self.commands(*passes)
        for function in self.functions:
            with self.subTest(function.name):
                memory = Memory(function)
                try:
                    for command in found[function.name][1]:
                        memory.run(command)
                    for (role, name), symbol in function.ends.items():
                        kind = next(k for r, n, k in ARRAYS if (r, n) == (role, name))
                        self.assertEqual(memory.read(("state", OFFSETS[role, name], TYPES[kind][1])), symbol, f"{role} {name}")
                except AssertionError as error:
                    raise AssertionError(f"{error}\n{function.text}\n" + "\n".join(found[function.name][1])) from None
        return found

    def test_scheduled(self):
        self.run_all("--mg-schedule-entries")

    def test_bucketed(self):
        self.run_all("--mg-schedule-entries", "--mg-bucket-all-reduces")

    def test_packed(self):
        scheduled = self.commands("--mg-schedule-entries", "--mg-bucket-all-reduces")
        packed = self.run_all("--mg-schedule-entries", "--mg-bucket-all-reduces", "--mg-pack-arena")
        arenas = lives = 0
        for name, (head, commands) in packed.items():
            arena, live = map(int, re.search(r"arena (\d+) live (\d+)", head).groups())
            with self.subTest(name):
                self.assertEqual(live, live_bytes(scheduled[name][1]))
                self.assertGreaterEqual(arena, live)
                used = [r for command in commands for r in ranges(command) if r[0] == "arena"]
                self.assertTrue(all(offset % ALIGNMENT == 0 and offset + size <= arena for _, offset, size in used))
            arenas, lives = arenas + arena, lives + live
        self.assertLess(arenas, 1.05 * lives)

    def test_packed_with_checks(self):
        scheduled = self.commands("--mg-schedule-entries", "--mg-bucket-all-reduces")
        packed = self.run_all("--mg-schedule-entries", "--mg-bucket-all-reduces", "--mg-pack-arena=check")
        for name, (head, commands) in packed.items():
            with self.subTest(name):
                temporaries = {r[1] for command in scheduled[name][1] for r in ranges(command) if r[0] == "temporary"}
                deaths = [command for command in commands if command.endswith('name "dead"')]
                self.assertEqual(len(deaths), len(temporaries))
                used = {r[1:] for command in commands if "unwritten" not in command for r in ranges(command) if r[0] == "arena"}
                arena = int(re.search(r"arena (\d+)", head)[1])
                self.assertTrue(all(offset >= ALIGNMENT and offset + size + ALIGNMENT <= arena for offset, size in used))


if __name__ == "__main__":
    unittest.main()
