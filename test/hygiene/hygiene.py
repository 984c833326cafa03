#!/usr/bin/env python3
# Checks that the sources keep the house rules: who may include whom, licence lines, sizes, paths, format, rationale.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""House rules that a compiler does not check, one function each, in the table `CHECKS`.

    hygiene.py               every check
    hygiene.py CHECK…        some of them
    hygiene.py --list        their names

A check returns its findings as `file:line: what is wrong`. Exit status 0, 1 with findings, 77 when a tool that the
only wanted check needs is missing (ctest's "skipped"). It looks at the files that git tracks or would track; without
git, at all files outside build folders. What is built is looked at by binaries.py.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

SKIPPED = 77
LARGEST_FILE_BYTES = 500_000
LONGEST_RATIONALE_LINES = 15
CLANG_FORMAT = "clang-format-22"


class ToolMissing(Exception):
    """A program that a check runs is not installed; the message names it."""


class Tree:
    """The project's files, read once. `names` are relative to `root`, with forward slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.names = sorted(self._from_git() or self._from_disk())
        self._text: dict[str, str] = {}

    def _from_git(self) -> list[str]:
        if not (self.root / ".git").exists() or shutil.which("git") is None:
            return []
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        return [name for name in listed.stdout.split("\0") if name and (self.root / name).is_file()]

    def _from_disk(self) -> list[str]:
        found = []
        for folder, subfolders, files in os.walk(self.root):
            example_data = Path(folder).parent.name == "examples"
            subfolders[:] = [name for name in subfolders if name not in (".git", "__pycache__")
                             and not name.startswith("build") and not (example_data and name == "data")]
            found += [(Path(folder) / name).relative_to(self.root).as_posix() for name in files
                      if not name.endswith((".pyc", ".mgb"))]
        return found

    def text(self, name: str) -> str:
        """A file's content; empty for a file that is not text."""
        if name not in self._text:
            try:
                self._text[name] = (self.root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self._text[name] = ""
        return self._text[name]


# --- Who may include whom -------------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#?\s*include\s*[<"]([^>"]+)[>"]')
COMPILER_SIDE = ("llvm/", "llvm-c/", "mlir/", "mlir-c/", "clang/", "lld/", "compiler/", "dialects/")


def first_folders(name: str, depth: int) -> str:
    """`compiler/schedule/Passes.h`, 2 → `compiler/schedule`; what lies higher up gives its own folder."""
    return "/".join(name.split("/")[:-1][:depth])


def include_fault(name: str, included: str) -> str | None:
    """Why the file `name` may not include the path `included`; None when it may."""
    top = name.split("/")[0]
    if included.startswith(("test/", "examples/")) and top != "test":
        return "only tests include tests"
    if included.startswith("tools/") and first_folders(name, 2) != first_folders(included, 2):
        return "a tool is included by nothing else"
    if top == "dialects" and included.startswith(("compiler/", "runtime/")):
        return "dialects/ knows neither compiler/ nor runtime/"
    if top == "runtime" or name.startswith("tools/mgrun/"):
        if included.startswith(COMPILER_SIDE):
            return "the runtime and mgrun know no LLVM, MLIR, compiler/ or dialects/"
    if name.startswith("runtime/"):
        return runtime_include_fault(name, included)
    if top == "compiler":
        return compiler_include_fault(name, included)
    return None


def runtime_include_fault(name: str, included: str) -> str | None:
    """The rules inside runtime/: base/ stands alone, a kind of device does not know another kind."""
    if name.startswith("runtime/base/") and included.startswith("runtime/") and first_folders(included, 2) != "runtime/base":
        return "runtime/base/ depends on nothing"
    kind, other = first_folders(name, 3), first_folders(included, 3)
    if kind.count("/") == 2 and kind.startswith("runtime/device/") and other.startswith("runtime/device/") and kind != other:
        return "a device never includes another: what two share moves up to runtime/device/"
    return None


def compiler_include_fault(name: str, included: str) -> str | None:
    """The rules inside compiler/: of the runtime only the schema; a stage does not know another stage."""
    if included.startswith("runtime/") and not included.startswith("runtime/schema/"):
        return "the compiler includes only runtime/schema/ of runtime/"
    stage, other = first_folders(name, 2), first_folders(included, 2)
    if not included.startswith("compiler/") or "compiler" in (stage, other) or stage == other:
        return None
    if "compiler/pipeline" in (stage, other) or other == "compiler/library":  # the library is text, not a stage
        return None
    return "a stage never includes another stage: they meet in compiler/pipeline/ and in the IR"


def check_includes(tree: Tree) -> Iterator[str]:
    """Includes point only where the dependency rule allows."""
    for name in tree.names:
        if not name.endswith((".h", ".cpp", ".c", ".td", ".inc")):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if (found := INCLUDE.match(line)) and (fault := include_fault(name, found[1])):
                yield f"{name}:{number}: includes {found[1]}: {fault}"


# --- How a file begins, and what it may hold ------------------------------------------------------------------------

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
COMMENT = re.compile(r"^\s*(//|#(?!include|pragma|ifndef|define|if\b)|/\*|\*|///|;|\"\"\")\s*(?P<words>.*)$")
SHORT_LIST_LINES = 5
SOURCE_ENDINGS = (".h", ".cpp", ".c", ".cu", ".td", ".fbs", ".py", ".sh", ".cmake", ".mlir", ".cfg")


def is_source(tree: Tree, name: str) -> bool:
    """Whether `name` needs an opening. Not so: the inputs of lit tests, which begin with what the test is about, and a
    CMakeLists.txt that only lists a few files."""
    if name.startswith("test/") and name.endswith(".mlir"):
        return False
    if name.endswith("CMakeLists.txt"):
        return len(tree.text(name).splitlines()) > SHORT_LIST_LINES
    return (name.endswith(SOURCE_ENDINGS)
            or ("." not in Path(name).name and tree.text(name).startswith("#!")))


def check_openings(tree: Tree) -> Iterator[str]:
    """A source file opens with a comment on what it is for, and with the licence's SPDX line."""
    for name in tree.names:
        if not is_source(tree, name):
            continue
        head = tree.text(name).splitlines()[:12]
        if not any(SPDX in line for line in head):
            yield f"{name}:1: no line '{SPDX}' at its top"
        comments = (COMMENT.match(line) for line in head if not line.startswith("#!"))
        words = [found["words"] for found in comments if found and "SPDX-" not in found["words"]]
        if not any(len(text.split()) >= 3 for text in words):
            yield f"{name}:1: does not open with a comment on what it is for"


def check_sizes(tree: Tree) -> Iterator[str]:
    """No file over 500 KB: data and products are not sources."""
    for name in tree.names:
        size_bytes = (tree.root / name).stat().st_size
        if size_bytes > LARGEST_FILE_BYTES:
            yield f"{name}:1: {size_bytes} bytes; at most {LARGEST_FILE_BYTES} are tracked"


# A folder of one machine, at the beginning of a path. The brackets keep this line from finding itself.
MACHINE_PATH = re.compile(r"(?:^|[^A-Za-z0-9_.$}/-])/(?:wor[k]|hom[e]|roo[t]|User[s]|far[m])/")


def check_paths(tree: Tree) -> Iterator[str]:
    """No absolute path of somebody's machine."""
    for name in tree.names:
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: a path of one machine: {line.strip()[:80]}"


RATIONALE_ENTRY = re.compile(r"^## (?P<number>[A-Z]+[0-9]+)\b")


def check_rationale(tree: Tree) -> Iterator[str]:
    """RATIONALE.md: the `## X1 title` entries have at most 15 lines and a number of their own."""
    for name in tree.names:
        if Path(name).name != "RATIONALE.md":
            continue
        seen: set[str] = set()
        start, length, number = 0, 0, ""
        for at, line in enumerate([*tree.text(name).splitlines(), "## end"], 1):
            if not line.startswith("## "):
                length += bool(line.strip())
                continue
            if number and length > LONGEST_RATIONALE_LINES:
                yield f"{name}:{start}: entry {number} has {length} lines; at most {LONGEST_RATIONALE_LINES}"
            found = RATIONALE_ENTRY.match(line)
            number = found["number"] if found else ""
            if number in seen:
                yield f"{name}:{at}: a second entry {number}"
            seen.update([number] if number else [])
            start, length = at, 1


def check_format(tree: Tree) -> Iterator[str]:
    """C++ is formatted as .clang-format says."""
    program = shutil.which(CLANG_FORMAT)
    if program is None:
        raise ToolMissing(CLANG_FORMAT)
    names = [name for name in tree.names if name.endswith((".h", ".cpp", ".c", ".cu"))]

    def findings(batch: list[str]) -> list[str]:
        ran = subprocess.run([program, "--dry-run", "--Werror", *batch], cwd=tree.root, capture_output=True, text=True,
                             check=False)
        first = {}
        for line in ran.stderr.splitlines():
            if found := re.match(r"(?P<file>[^:]+):(?P<line>\d+):\d+: error: ", line):
                first.setdefault(found["file"], found["line"])
        if ran.returncode != 0 and not first:
            return [f"{batch[0]}:1: {CLANG_FORMAT} failed: {ran.stderr.strip()[:200]}"]
        return [f"{file}:{line}: not formatted; run {CLANG_FORMAT} -i {file}" for file, line in first.items()]

    batches = [names[at:at + 16] for at in range(0, len(names), 16)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(findings, batches):
            yield from found


# --- The command ----------------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Tree], Iterator[str]]] = {
    "includes": check_includes,
    "openings": check_openings,
    "sizes": check_sizes,
    "paths": check_paths,
    "rationale": check_rationale,
    "format": check_format,
}


def main(arguments: list[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(description="Check the sources against the house rules.")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="from: " + ", ".join(CHECKS))
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the checkout")
    parser.add_argument("--list", action="store_true", help="print the names of the checks")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(CHECKS))
        return 0
    wanted = options.checks or list(CHECKS)
    if unknown := [name for name in wanted if name not in CHECKS]:
        parser.error(f"no check named {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
    tree = Tree(options.root.resolve())
    findings = 0
    for name in wanted:
        try:
            for finding in CHECKS[name](tree):
                print(finding)
                findings += 1
        except ToolMissing as missing:
            print(f"{name}: skipped: {missing} is not installed")
            if len(wanted) == 1:
                return SKIPPED
    print(f"{findings} findings in {len(tree.names)} files: {' '.join(wanted)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
