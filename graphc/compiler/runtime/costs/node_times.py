"""The run time of each node of a graph, from JAX's profiler."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.ir import Graph
from graphc.tools.drawing import path_of

__all__ = ["node_times"]

_INSTRUCTION = re.compile(r'%([\w.-]+) = [^\n]*?metadata=\{[^}\n]*?op_name="([^"]*)"')
_AROUND = re.compile(r"%([\w.-]+) = (?:\([^\n]*?\)|\S+) (?:while|conditional|call)\(")


def node_times(folder: str | Path, executable: Any, graph: Graph) -> dict[str, float]:
    """Reads how long the nodes of a graph took in one run, by a profile.

    XLA computes several nodes in one kernel; the time of a kernel is that of the node whose result it gives.

    Args:
      folder: the folder that ``gx.profile(jax_profiler=folder)`` wrote while the function ran.
      executable: the compiled program (``jax.stages.Compiled``).
      graph: the program's.

    Returns:
      Seconds of one run, by the path of the node (``scan/body/matmul``); those around it have the sum. Nothing if the
      program did not run meanwhile.

    Raises:
      NotFoundError: there is no profile in the folder.
    """
    files = sorted(Path(folder).rglob("*.xplane.pb"))
    if not files:
        raise NotFoundError(
            f"{folder}: there is no profile of JAX's (*.xplane.pb); write one with gx.profile(jax_profiler=folder)"
        )
    text = executable.as_text() or ""
    module = (re.match(r"HloModule ([^\s,]+)", text) or ["", ""])[1]
    names = dict(_INSTRUCTION.findall(text))
    around = set(_AROUND.findall(text))
    spent: defaultdict[str, float] = defaultdict(float)
    runs: set[Any] = set()
    for name, launch, seconds in _ops(files, module):
        runs.add(launch)
        if name not in around:
            for path in _paths(graph, names.get(name, "").split("/")[1:]):
                spent[path] += seconds
    return {path: seconds / max(len(runs), 1) for path, seconds in spent.items()}


def _ops(files: Sequence[Path], module: str) -> list[tuple[str, Any, float]]:
    """Returns the instruction, launch and seconds of each op that a program has run."""
    found: list[tuple[str, Any, float]] = []
    # The reader's types warn where they are made, and abort the process if that warning is an error.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        profiler: Any = jax.profiler
        for file in files:
            for plane in profiler.ProfileData.from_file(str(file)).planes:
                for line in plane.lines:
                    for event in line.events:
                        facts = dict(event.stats)
                        if facts.get("hlo_module") == module and "hlo_op" in facts:
                            found.append((str(facts["hlo_op"]), facts.get("run_id"), event.duration_ns * 1e-9))
    return found


def _paths(graph: Graph, parts: Sequence[str]) -> list[str]:
    """Returns the path of the node that an instruction is of, and of those around it.

    Args:
      graph: the program's.
      parts: the parts of the instruction's name: node names, and between them JAX's additions for bodies and functions.
    """
    found: list[str] = []
    inside: list[tuple[str, Graph]] = [("", graph)]  # where the next node may be, with what stands before its path
    for part in parts:
        branch = re.fullmatch(r"branch_(\d+)_fun", part)
        if branch and int(branch[1]) < len(inside):
            inside = [inside[int(branch[1])]]
        for scope, region in inside:
            node = next((node for node in region.nodes if node.name == part), None)
            if node is not None:
                found.append(path_of(scope, node))
                inside = [(f"{path_of(scope, node, index)}/", body) for index, body in enumerate(node.regions)]
                if node.op.name == "cond":  # XLA's first branch is that of False
                    inside.reverse()
                break
    return found
