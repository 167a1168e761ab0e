"""The HTTP front of :mod:`graphc.serve`: an ASGI application and a server that runs it."""

from graphc.serve.http.app import App
from graphc.serve.http.endpoint import Offer, offer
from graphc.serve.http.saved import offers
from graphc.serve.http.server import run

__all__ = ["App", "Offer", "offer", "offers", "run"]
