"""Errors, configuration, nested structures, names, registries, user stack frames, deadlines and waiting."""

from graphc.compiler.base import errors, files, flags, logs, nest
from graphc.compiler.base.blocking import finish_given_up, run_on_thread, start_on_thread, until_called, when_done
from graphc.compiler.base.cancellation import CancellationToken
from graphc.compiler.base.collection import collect_since, collection_paused, collections_so_far
from graphc.compiler.base.config import Config, DeviceSettings, WideTypes, config
from graphc.compiler.base.deadlines import (
    Deadline,
    Interruption,
    Subject,
    check_interrupted,
    checked_seconds,
    deadline,
    interruption,
    only_interrupted,
)
from graphc.compiler.base.errors import at
from graphc.compiler.base.files import File
from graphc.compiler.base.frames import (
    Location,
    has_mark,
    is_graphc_file,
    is_installed_file,
    is_internal_file,
    is_library_file,
    is_library_module,
    remember,
    thread_location,
    user_frame,
    user_location,
    warn_at,
)
from graphc.compiler.base.interrupts import HeldInterrupts, held_interrupts, interrupts_held
from graphc.compiler.base.lazy import (
    held_by,
    hint_missing,
    hint_of,
    imported_names,
    is_kept,
    lazy_names,
    names_of,
    public_modules,
    refuse_options,
)
from graphc.compiler.base.names import UniqueNames, with_article
from graphc.compiler.base.pool import Pool, Work
from graphc.compiler.base.recursion import deep_recursion
from graphc.compiler.base.registry import ABOVE, Registry
from graphc.compiler.base.slow_path import (
    SPREAD_ARRAYS,
    other_slow_path_reasons,
    set_slow_path_reason,
    slow_path_reasons,
)
from graphc.compiler.base.version import VERSION
from graphc.compiler.base.waiting import Signal, holding, pause, wait_only_for, wait_until
from graphc.compiler.base.watchdog import listen_to_waits, note_progress, overseen, watched

__all__ = [
    "ABOVE",
    "SPREAD_ARRAYS",
    "VERSION",
    "CancellationToken",
    "Config",
    "Deadline",
    "DeviceSettings",
    "File",
    "HeldInterrupts",
    "Interruption",
    "Location",
    "Pool",
    "Registry",
    "Signal",
    "Subject",
    "UniqueNames",
    "WideTypes",
    "Work",
    "at",
    "check_interrupted",
    "checked_seconds",
    "collect_since",
    "collection_paused",
    "collections_so_far",
    "config",
    "deadline",
    "deep_recursion",
    "errors",
    "files",
    "finish_given_up",
    "flags",
    "has_mark",
    "held_by",
    "held_interrupts",
    "hint_missing",
    "hint_of",
    "holding",
    "imported_names",
    "interruption",
    "interrupts_held",
    "is_graphc_file",
    "is_installed_file",
    "is_internal_file",
    "is_kept",
    "is_library_file",
    "is_library_module",
    "lazy_names",
    "listen_to_waits",
    "logs",
    "names_of",
    "nest",
    "note_progress",
    "only_interrupted",
    "other_slow_path_reasons",
    "overseen",
    "pause",
    "public_modules",
    "refuse_options",
    "remember",
    "run_on_thread",
    "set_slow_path_reason",
    "slow_path_reasons",
    "start_on_thread",
    "thread_location",
    "until_called",
    "user_frame",
    "user_location",
    "wait_only_for",
    "wait_until",
    "warn_at",
    "watched",
    "when_done",
    "with_article",
]
