"""Layer 7: layers, which hold the Variables of a model and make them at the first call."""

from graphc.layers.containers import Sequential
from graphc.layers.dense import Dense
from graphc.layers.dropout import Dropout
from graphc.layers.layer import Layer
from graphc.layers.module import Module
from graphc.layers.string_lookup import StringLookup

__all__ = ["Dense", "Dropout", "Layer", "Module", "Sequential", "StringLookup"]
