"""Writes the stub files of graphc/compiler/ops before graphc is packed or installed.

They tell editors and type checkers of functions that are made from rows when they are first used. They are written from
the rows (``python -m graphc.compiler.ops.stubs``), which takes an import of graphc: so building from a clone needs
graphc's own dependencies. A source distribution has the files already, and building from it needs none of these.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MAKES_FUNCTIONS = re.compile(r"define\(globals\(\)|^DRAWS = |^METHODS = ", re.MULTILINE)
_SECONDS = 300


def stubs_are_written(root: Path) -> bool:
    """Returns True if each module of rows has a stub file that is as new as the sources of the rows.

    Args:
      root: of the repository, or of a source distribution.
    """
    files = [
        path for path in (root / "graphc" / "compiler" / "ops").rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    sources = [path for path in files if path.suffix != ".pyi"]
    code = {path: path.read_text(encoding="utf-8") for path in sources if path.suffix == ".py"}
    modules = [path for path, text in code.items() if _MAKES_FUNCTIONS.search(text)]
    stubs = [path for path in files if path.suffix == ".pyi"]
    if not stubs or {path.with_suffix(".pyi") for path in modules} != {*stubs}:
        return False
    return min(path.stat().st_mtime for path in stubs) >= max(path.stat().st_mtime for path in sources)


class CustomBuildHook(BuildHookInterface[Any]):
    """The hook that hatchling runs for wheels, source distributions and editable installations."""

    def dependencies(self) -> list[str]:
        """Returns what the build needs beside hatchling."""
        return [] if stubs_are_written(Path(self.root)) else list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Writes the files, unless they are up to date."""
        del version, build_data
        if stubs_are_written(Path(self.root)):
            return
        # The path of this process has what was installed for the build alone.
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([self.root, *sys.path]), "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, "-m", "graphc.compiler.ops.stubs"]
        subprocess.run(command, cwd=self.root, env=environ, check=True, timeout=_SECONDS)
