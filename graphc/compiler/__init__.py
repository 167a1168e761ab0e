"""What every program passes through, from eager ops to XLA executables, and nothing that it does not."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.compiler import autograph, base, core, devices, function, gradients, ir, lowering, ops, runtime, tracing

__all__ = [
    "autograph", "base", "core", "devices", "function", "gradients", "ir", "lowering", "ops", "runtime", "tracing",
]  # fmt: skip
