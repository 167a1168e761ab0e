"""Compiled functions saved as files (graph text, Variables, a manifest), and loaded from them."""

from graphc.saving.load import Saved, load
from graphc.saving.loaded import LEFT_OUT, LoadedSignature
from graphc.saving.save import CALL, save
from graphc.saving.signature import Signature

__all__ = ["CALL", "LEFT_OUT", "LoadedSignature", "Saved", "Signature", "load", "save"]
