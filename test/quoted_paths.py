# The format of the .mlir tests; a module of its own, since lit sends it to other processes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaded by test/lit.cfg.py."""

import shlex
from pathlib import Path

import lit.formats
import lit.TestRunner


class QuotedPaths(lit.formats.ShTest):
    """lit's shell tests, in folders whose names have spaces too."""

    def execute(self, test, litConfig):  # noqa: N803 (lit's name)
        folder, output = lit.TestRunner.getTempPaths(test)
        paths = {"%s": test.getSourcePath(), "%S": str(Path(test.getSourcePath()).parent), "%t": f"{output}.tmp", "%T": folder}
        quoted = [(name, shlex.quote(path)) for name, path in paths.items()]
        return lit.TestRunner.executeShTest(test, litConfig, self.execute_external, quoted)
