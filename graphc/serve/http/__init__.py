"""The HTTP front of :mod:`graphc.serve`: an ASGI application and a server that runs it."""

from graphc.serve.http.app import App
from graphc.serve.http.server import run

__all__ = ["App", "run"]
