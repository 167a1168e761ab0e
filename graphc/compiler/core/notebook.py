"""Notebook output of tensors: a table if they have rows, with type and device below."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from graphc.compiler.core.tensor import Tensor

__all__ = ["tensor_html"]

_MOST = 10
"""Maximum number of rows and columns shown; of more, only the first and last appear."""


def tensor_html(tensor: Tensor) -> str:
    """Returns a tensor as an HTML fragment, after waiting for its values."""
    array = tensor.numpy()
    caption = f"<div><small><code>{escape(str(tensor.type))}</code> on {escape(tensor.device)}</small></div>"
    if array.ndim not in (1, 2) or not array.size:
        return f"<pre>{escape(np.array2string(array, threshold=60, edgeitems=3))}</pre>{caption}"
    rows, columns = array.reshape(-1, array.shape[-1]), _shown(array.shape[-1])
    numbers = _shown(array.shape[0]) if array.ndim == 2 else [0]
    head = "".join(f"<th>{'…' if column is None else column}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{'' if array.ndim == 1 else '…' if row is None else row}</th>{_cells(rows, row, columns)}</tr>"
        for row in numbers
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>{caption}"


def _shown(count: int) -> list[int | None]:
    """Returns the indices that are shown; None marks those left out."""
    if count <= _MOST:
        return list(range(count))
    half = _MOST // 2
    return [*range(half), None, *range(count - half, count)]


def _cells(rows: Any, row: int | None, columns: list[int | None]) -> str:
    texts = ["…" if row is None or column is None else _text(rows[row, column]) for column in columns]
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _text(item: Any) -> str:
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    return f"{item:.4g}" if getattr(item, "dtype", np.dtype(object)).kind in "fc" else str(item)
