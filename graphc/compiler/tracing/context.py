"""The context of the current thread, typed with the concrete class of its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from graphc.compiler.core import context as _context

if TYPE_CHECKING:
    from graphc.compiler.core import Context
    from graphc.compiler.tracing.trace import Trace

__all__ = ["context"]

context = cast("Context[Trace]", _context)
