"""Layer 0: errors, configuration, nested structures, unique names, registries, user stack frames."""

from graphc.base import errors, nest
from graphc.base.collection import collection_paused
from graphc.base.config import Config, config
from graphc.base.errors import at
from graphc.base.frames import Location, is_internal_file, user_frame, user_location
from graphc.base.names import UniqueNames
from graphc.base.registry import Registry

__all__ = [
    "Config",
    "Location",
    "Registry",
    "UniqueNames",
    "at",
    "collection_paused",
    "config",
    "errors",
    "is_internal_file",
    "nest",
    "user_frame",
    "user_location",
]
