"""Symbolic values: one module for each kind, with what Python does to it and how two of a kind are joined.

They know nothing of statements and expressions; the few constructs that they need are handed down to
:mod:`graphc.compiler.autograph.values.control`.
"""

from graphc.compiler.autograph.values.number_operators import define_operators

__all__: list[str] = []

define_operators()
