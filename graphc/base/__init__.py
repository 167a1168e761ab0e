"""Layer 0: errors, configuration, nested structures, unique names, registries, user stack frames."""

from graphc.base import errors, nest
from graphc.base.collection import collection_paused
from graphc.base.config import Config, WideTypes, config
from graphc.base.errors import at
from graphc.base.frames import Location, is_graphc_file, is_internal_file, user_frame, user_location, warn_at
from graphc.base.names import UniqueNames
from graphc.base.notes import remember
from graphc.base.recursion import deep_recursion
from graphc.base.registry import Registry

__all__ = [
    "Config",
    "Location",
    "Registry",
    "UniqueNames",
    "WideTypes",
    "at",
    "collection_paused",
    "config",
    "deep_recursion",
    "errors",
    "is_graphc_file",
    "is_internal_file",
    "nest",
    "remember",
    "user_frame",
    "user_location",
    "warn_at",
]
