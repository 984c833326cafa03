# Each check of hygiene.py and binaries.py finds what it is for, and leaves alone what is right.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one fault in a tree of its own for each rule, and beside it the nearest thing that is allowed."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import binaries
import hygiene

OPENING = "// What this file is for.\n// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


class TreeTest(unittest.TestCase):
    """Gives a test a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def findings(self, check: str, files: dict[str, str]) -> list[str]:
        """What a check finds in a tree that holds these files."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(hygiene.CHECKS[check](hygiene.Tree(self.root)))


class Includes(unittest.TestCase):
    REFUSED = [
        ("runtime/program/Bundle.cpp", "llvm/ADT/StringRef.h"),
        ("runtime/program/Bundle.cpp", "dialects/mg/Mg.h"),
        ("runtime/train/Loop.cpp", "compiler/pipeline/Pipeline.h"),
        ("tools/mgrun/mgrun.cpp", "mlir/IR/Builders.h"),
        ("runtime/base/Status.h", "runtime/data/Idx.h"),
        ("runtime/device/cuda/CudaDevice.cpp", "runtime/device/cpu/WorkerPool.h"),
        ("compiler/bundle/Writer.cpp", "runtime/program/Bundle.h"),
        ("compiler/fusion/Fuse.cpp", "compiler/schedule/Packing.h"),
        ("compiler/codegen/cpu/Emit.cpp", "compiler/fusion/Kernel.h"),
        ("dialects/mg/Mg.cpp", "compiler/model/Infer.h"),
        ("dialects/mg/Mg.cpp", "runtime/schema/DType.h"),
        ("dialects/mg/MgOps.td", "compiler/pipeline/Passes.td"),
        ("runtime/train/Loop.cpp", "test/runtime/Fixture.h"),
        ("compiler/plan/Plan.cpp", "tools/mgc/Options.h"),
    ]
    ALLOWED = [
        ("runtime/program/Bundle.cpp", "runtime/schema/bundle_generated.h"),
        ("runtime/base/Status.h", "runtime/base/Span.h"),
        ("runtime/device/cpu/CpuDevice.cpp", "runtime/device/Device.h"),
        ("runtime/device/cpu/CpuDevice.cpp", "runtime/device/cpu/WorkerPool.h"),
        ("compiler/bundle/Writer.cpp", "runtime/schema/DType.h"),
        ("compiler/fusion/Fuse.cpp", "dialects/mg/Mg.h"),
        ("compiler/fusion/Fuse.cpp", "compiler/fusion/Passes.h.inc"),
        ("compiler/pipeline/Pipeline.cpp", "compiler/fusion/Passes.h"),
        ("compiler/codegen/cpu/Emit.cpp", "compiler/codegen/Kernel.h"),
        ("compiler/model/ModelReader.cpp", "compiler/library/library.inc"),
        ("tools/mgc/mgc.cpp", "compiler/pipeline/Pipeline.h"),
        ("tools/mgc/mgc.cpp", "tools/mgc/Options.h"),
        ("test/runtime/IdxTest.cpp", "runtime/data/Idx.h"),
    ]

    def test_an_include_against_the_dependency_rule_is_found(self) -> None:
        for name, included in self.REFUSED:
            with self.subTest(name=name, included=included):
                self.assertIsNotNone(hygiene.include_fault(name, included))

    def test_an_include_along_the_dependency_rule_is_left_alone(self) -> None:
        for name, included in self.ALLOWED:
            with self.subTest(name=name, included=included):
                self.assertIsNone(hygiene.include_fault(name, included))


class IncludeScan(TreeTest):
    def test_the_finding_names_file_line_and_include(self) -> None:
        found = self.findings("includes", {"runtime/data/Idx.cpp": OPENING + '  #  include "mlir/IR/Types.h"\n'})
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("runtime/data/Idx.cpp:3: includes mlir/IR/Types.h"), found[0])

    def test_a_td_include_is_seen(self) -> None:
        self.assertEqual(len(self.findings("includes", {"dialects/mg/A.td": 'include "compiler/pipeline/Passes.td"\n'})), 1)


class Openings(TreeTest):
    def test_a_missing_licence_line_is_found(self) -> None:
        self.assertEqual(len(self.findings("openings", {"runtime/A.cpp": "// What this file is for.\nint a;\n"})), 1)

    def test_a_missing_purpose_is_found(self) -> None:
        self.assertEqual(len(self.findings("openings", {"runtime/A.cpp": OPENING.splitlines()[1] + "\nint a;\n"})), 1)

    def test_a_script_without_ending_is_a_source(self) -> None:
        self.assertEqual(len(self.findings("openings", {".ci/go": "#!/bin/sh\ntrue\n"})), 2)

    def test_a_proper_opening_is_left_alone(self) -> None:
        self.assertEqual(self.findings("openings", {"runtime/A.cpp": OPENING + "int a;\n"}), [])

    def test_a_lit_input_needs_none(self) -> None:
        self.assertEqual(self.findings("openings", {"test/dialects/mg/add.mlir": "// RUN: mg-opt %s\n"}), [])


class Sizes(TreeTest):
    def test_a_file_over_the_limit_is_found(self) -> None:
        self.assertEqual(len(self.findings("sizes", {"a.txt": "x" * 500_001})), 1)

    def test_a_file_at_the_limit_is_left_alone(self) -> None:
        self.assertEqual(self.findings("sizes", {"a.txt": "x" * 500_000}), [])


class Paths(TreeTest):
    def test_a_path_into_a_home_folder_is_found(self) -> None:
        home = "/".join(["", "home", "me", "x"])
        for text in (f"see {home}\n", f'"{home}"\n', f"{home}\n", f"A={home}\n"):
            with self.subTest(text=text):
                self.assertEqual(len(self.findings("paths", {"a.md": text})), 1)

    def test_a_relative_path_is_left_alone(self) -> None:
        self.assertEqual(self.findings("paths", {"a.md": "src/home/x ./work/x $d/home/x framework/x\n"}), [])


class Rationale(TreeTest):
    def test_an_entry_of_16_lines_is_found(self) -> None:
        self.assertEqual(len(self.findings("rationale", {"compiler/RATIONALE.md": "# T\n\n## C1 Name\n" + "x\n" * 15})), 1)

    def test_an_entry_of_15_lines_is_left_alone(self) -> None:
        text = "# T\n\n## C1 Name\n" + "x\n" * 14 + "\n## C2 Other\n" + "x\n" * 14
        self.assertEqual(self.findings("rationale", {"compiler/RATIONALE.md": text}), [])

    def test_a_number_used_twice_is_found(self) -> None:
        self.assertEqual(len(self.findings("rationale", {"compiler/RATIONALE.md": "## C1 A\nx\n## C1 B\nx\n"})), 1)


@unittest.skipUnless(hygiene.shutil.which(hygiene.CLANG_FORMAT), f"{hygiene.CLANG_FORMAT} is not installed")
class Format(TreeTest):
    def test_an_unformatted_file_is_found(self) -> None:
        found = self.findings("format", {".clang-format": "BasedOnStyle: LLVM\n", "a.cpp": "int  a ;\n", "b.h": "int b;\n"})
        self.assertEqual([finding.split(":")[0] for finding in found], ["a.cpp"])


class Symbols(unittest.TestCase):
    def test_a_transcendental_function_is_known(self) -> None:
        for name in ("exp", "expf", "log1p", "pow", "tanhf", "sqrtf", "sincos", "__expf_finite"):
            self.assertIsNotNone(binaries.TRANSCENDENTAL.fullmatch(name), name)

    def test_rounding_and_unrelated_names_are_left_alone(self) -> None:
        for name in ("floor", "lround", "ldexp", "explicit_bzero", "logout", "powerOff", "fmax"):
            self.assertIsNone(binaries.TRANSCENDENTAL.fullmatch(name), name)

    def test_only_our_own_functions_are_judged(self) -> None:
        self.assertEqual(binaries.own_function("mg::cpu::runGemm(float*)"), "runGemm")
        self.assertIsNone(binaries.own_function("std::vector<int>::dot()"))

    def test_a_library_of_the_compiler_is_known_by_its_name(self) -> None:
        for line in ("libLLVM.so.22.1 => /x", "libMLIR.so.22.1 => /x", "libLLVM-22.so => /x"):
            self.assertIsNotNone(binaries.COMPILER_LIBRARIES.search(line), line)
        self.assertIsNone(binaries.COMPILER_LIBRARIES.search("libz.so.1 => /x"))


if __name__ == "__main__":
    unittest.main()
