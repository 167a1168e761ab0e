"""Old files: the format's versions and those of ops, and what makes new ones of them.

A change of what a saved graph means gets a number: ``VERSION`` for the manifest,
:attr:`graphc.compiler.ir.OpDef.version` for an op. What was saved before is upgraded when it is loaded, by functions
that stay for ever. What is newer than this graphc is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.ir import OPS, Attrs, Graph, GraphBuilder, Node, OpDef, TensorType, Value

__all__ = ["MANIFESTS", "UPGRADES", "VERSION", "Upgrade", "check_version", "known_ops", "upgrade_manifest", "upgraded"]

VERSION = 1
"""Of the manifest."""

MANIFESTS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""By the version of a manifest, what makes it one of the next version."""

Upgrade: TypeAlias = Callable[[GraphBuilder, Node, Sequence[Value]], Sequence[Value]]
"""Appends what stands for an old node: takes the builder of the new graph, the old node and its new inputs, and gives
what its outputs are."""

UPGRADES: dict[tuple[str, int], Upgrade] = {}
"""By the name and the version of an op: what makes a node of the next version, or of other ops, of one of this."""


def check_version(version: Any, what: str, newest: int, saved_by: Any) -> None:
    """Refuses what is newer than this graphc.

    Raises:
      FailedPreconditionError: it is.
    """
    if type(version) is not int or version < 1:
        raise ValueError(f"the version of {what} is {version!r:.40}")
    if version > newest:
        raise FailedPreconditionError(
            f"{what} is of version {version}, saved by graphc {saved_by!s:.40}; this graphc reads up to version "
            f"{newest}: install a newer one (pip install -U graphc)"
        )


def upgrade_manifest(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a manifest of this version.

    Raises:
      FailedPreconditionError: it is newer.
    """
    check_version(content["version"], "the format", VERSION, content.get("graphc"))
    found = dict(content)
    while found["version"] < VERSION:
        found = {**MANIFESTS[found["version"]](found), "version": found["version"] + 1}
    return found


def known_ops(versions: Mapping[str, Any], saved_by: Any, allowed: Callable[[OpDef], bool]) -> dict[str, OpDef]:
    """Returns the ops that a graph may have, by the names that it has for them.

    Args:
      versions: the version of each when the graph was saved.
      saved_by: the version of graphc, for messages.
      allowed: a function that says whether a file may have an op of today.

    Raises:
      FailedPreconditionError: an op is newer than this graphc, or unknown to it.
      ValueError: an op is not allowed.
    """
    found: dict[str, OpDef] = {}
    for name, version in versions.items():
        op = OPS[name] if name in OPS else None  # noqa: SIM401  a registry's own error is another
        if (name, version) in UPGRADES:
            found[name] = OpDef(name, _of_old, _types_of_old, _Any.params, _Any.regions, version=version)
            continue
        if op is None:
            raise FailedPreconditionError(
                f"there is no op {name!r:.60} here; it was saved by graphc {saved_by!s:.40}: install that version or a "
                "newer one"
            )
        check_version(version, f"the op {name!r}", op.version, saved_by)
        if version < op.version:
            raise FailedPreconditionError(
                f"the op {name!r} of version {version} has no upgrade; this is an error of graphc"
            )
        if not allowed(op):
            raise ValueError(f"the op {name!r} is not one that a file may have")
        found[name] = op
    return found


class _Any:
    params = ("*values",)
    regions = ("*bodies",)


def _of_old(*values: Any, **attrs: Any) -> Any:
    raise FailedPreconditionError("an op of an older version is upgraded before it runs")


def _types_of_old(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    raise FailedPreconditionError("an op of an older version is upgraded before its types are inferred")


def upgraded(graph: Graph) -> Graph:
    """Returns a graph of today's ops, in its bodies too."""
    while any(_upgrade_of(node) for node in graph.walk()):
        graph = _once(graph)
    return graph


def _upgrade_of(node: Node) -> Upgrade | None:
    return UPGRADES.get((node.op.name, node.op.version))


def _once(graph: Graph) -> Graph:
    builder = GraphBuilder(graph.name)
    values = {value: builder.input(value.type, value.name) for value in graph.inputs}
    nodes: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = [values[value] for value in node.inputs]
        upgrade = _upgrade_of(node)
        if upgrade is not None:
            outputs = upgrade(builder, node, inputs)
            made = builder.nodes[-1]
        else:
            made = builder.append(
                node.op, inputs, node.attrs, types=[output.type for output in node.outputs],
                regions=[_once(region) for region in node.regions],
                control_inputs=[nodes[control] for control in node.control_inputs], device=node.device, name=node.name,
                location=node.location,
            )  # fmt: skip
            outputs = made.outputs
        nodes[node] = made
        values.update(zip(node.outputs, outputs, strict=True))
    return builder.build([values[value] for value in graph.outputs])
