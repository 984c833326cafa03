# All .mlir tests of the tree, by LLVM's lit: one configuration, since each test says in its RUN lines which tool it is about.
# `%mnist` is the example's model; data that tests read lies beside them in Inputs/ folders.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaded by lit through the lit.site.cfg.py of the build folder, which says where the tools are."""

import shlex
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from quoted_paths import QuotedPaths  # noqa: E402

config.name = "mg"  # noqa: F821 (lit defines config)
config.test_format = QuotedPaths(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = config.mg_test_folder  # noqa: F821

tools = {name: Path(config.mg_tools) / name for name in ("mgc", "mg-opt", "mgrun")}  # noqa: F821
tools |= {name: Path(config.llvm_tools) / name for name in ("FileCheck", "not", "split-file")}  # noqa: F821
for name, path in tools.items():
    # A whole word: not the mgc of %t/mgc.txt, not the `not` of a comment.
    config.substitutions.append((rf"(?<![\w./%-]){name}(?![\w./-])", shlex.quote(str(path))))  # noqa: F821
config.substitutions.append(("%mnist", shlex.quote(config.mnist_model)))  # noqa: F821
