"""Programs that tests start, in processes that have imported JAX and graphc already.

The imports take one to four seconds of a processor, which is most of what such a program takes. A server, one for each
worker of pytest, imports both and makes no devices, so it has one thread and can be forked. Each program is a fork of
it with streams, environment, folder and session of its own, and is waited for, signalled and killed like any child.

A test that is about the start of Python, about imports, or about settings that imports read starts a new interpreter.
"""

from tests.warm.client import warm_processes

__all__ = ["warm_processes"]
