"""Symbolic values: one module for each kind, with what Python does to it and how two of a kind are joined.

Some ask constructs, inside functions: a choice is used by a conditional, and an int that overflows ends the program.
"""

from graphc.compiler.autograph.values.number_operators import define_operators

__all__: list[str] = []

define_operators()
