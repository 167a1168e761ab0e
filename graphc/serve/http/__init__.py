"""The HTTP front of :mod:`graphc.serve`: an ASGI application on Starlette, and a server that runs it.

``App`` and ``run`` are imported where they are used first: they need what ``pip install 'graphc[serve]'`` brings.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.serve.http.offers import Offer, offer, offers

if TYPE_CHECKING:
    from graphc.serve.http.app import App
    from graphc.serve.http.server import run

__all__ = ["App", "Offer", "offer", "offers", "run"]

_NEEDED = {"prometheus_client", "starlette", "uvicorn", "httptools"}


def __getattr__(name: str) -> Any:
    if name not in ("App", "run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"graphc.serve.http.{'app' if name == 'App' else 'server'}"), name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in _NEEDED:
            raise
        text = f"gx.serve.{name} needs {error.name}, which is not installed: pip install 'graphc[serve]'"
        raise FailedPreconditionError(text) from None
