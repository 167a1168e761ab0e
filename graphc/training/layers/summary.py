"""The table of a model's layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from graphc.compiler.ops import zeros
from graphc.training.layers.module import Module

__all__ = ["print_summary"]


def print_summary(model: Any, input_shape: Sequence[int] | None = None) -> None:
    """Prints the layers of a model, with the numbers of their parameters and, for an input's shape, their outputs'."""
    from rich.console import Console
    from rich.table import Table

    outputs = {} if input_shape is None else _output_shapes(model, zeros((1, *input_shape)))
    table = Table("layer", "kind", *(["output"] if outputs else []))  # only a call for a shape tells them
    table.add_column("parameters", justify="right")
    for name, part in model._parts():
        if isinstance(part, Module):
            count = "not built" if not getattr(part, "built", True) else f"{_count(part.variables):,}"
            table.add_row(name, type(part).__name__, *([outputs.get(id(part), "")] if outputs else []), count)
    total, trained = _count(model.variables), _count(model.trainable_variables)
    console = Console()
    console.print(f"{type(model).__name__} {model.name!r}", highlight=False)
    console.print(table)
    console.print(f"{total:,} parameters, {trained:,} of them trained", highlight=False)


def _output_shapes(model: Any, value: Any) -> dict[int, str]:
    """The shape that each layer gives, by calling them; of other models than a Sequential only the call itself."""
    if not hasattr(model, "layers"):
        model(value)
        return {}
    shapes: dict[int, str] = {}
    for layer in cast("list[Any]", model.layers):
        value = layer(value)
        shapes[id(layer)] = f"({', '.join(['batch', *map(str, value.shape[1:])])})"
    return shapes


def _count(variables: Sequence[Any]) -> int:
    return sum(math.prod(variable.shape) for variable in variables)
