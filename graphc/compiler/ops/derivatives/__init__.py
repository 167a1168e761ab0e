"""Ops for derivatives: vjp and jvp, and the backward pass of loops.

They are in a layer below :mod:`graphc.compiler.gradients`, since the lowering evaluates them.
"""

__all__: list[str] = []
