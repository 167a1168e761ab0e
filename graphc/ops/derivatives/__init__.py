"""Ops of derivatives: vjp and jvp, and how loops are run backwards.

They stand below :mod:`graphc.gradients`, since the lowering evaluates them.
"""

__all__: list[str] = []
