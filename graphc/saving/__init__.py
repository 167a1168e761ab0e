"""Layer 10: compiled functions as files: graph text, Variables, a manifest; and what is loaded of them."""

from graphc.saving.load import Saved, load
from graphc.saving.save import save
from graphc.saving.signature import Signature

__all__ = ["Saved", "Signature", "load", "save"]
