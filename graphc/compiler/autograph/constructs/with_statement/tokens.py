"""Cancellation tokens in code that is traced, where they would end no wait of the program's."""

from __future__ import annotations

from typing import Any

from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.base import CancellationToken
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import context

__all__ = ["OVERRIDES", "refuse_token"]


def refuse_token(value: Any) -> None:
    """Refuses ``with token:``.

    Raises:
      UnimplementedError: the context manager is a token, and a function is traced.
    """
    if isinstance(value, CancellationToken) and context.trace is not None:
        error = UnimplementedError(
            "`with` on a gx.CancellationToken in a compiled function: the token would be in force while the function "
            "is traced, and not when it runs. Put it around the call"
        )
        raise context.trace.refuse(error)


def _cancel(cancel: Any, token: CancellationToken, *args: Any, **kwargs: Any) -> Any:
    """``token.cancel()``."""
    del token
    if context.trace is not None:
        context.trace.side_effect("the call of CancellationToken.cancel", certain=True)  # runs once, not at each call
    return cancel(*args, **kwargs)


OVERRIDES: Functions = {CancellationToken.cancel: _cancel}
