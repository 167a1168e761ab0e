"""The context of the current thread, typed with the concrete class of its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from graphc.core import context as _context

if TYPE_CHECKING:
    from graphc.core import Context
    from graphc.tracing.trace import Trace

__all__ = ["context"]

context = cast("Context[Trace]", _context)
