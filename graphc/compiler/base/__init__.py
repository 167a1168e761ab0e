"""Errors, configuration, nested structures, names, registries, user stack frames, deadlines and waiting."""

from graphc.compiler.base import errors, files, flags, logs, nest
from graphc.compiler.base.blocking import (
    Pool,
    Work,
    finish_given_up,
    run_on_thread,
    start_on_thread,
    until_called,
    when_done,
)
from graphc.compiler.base.config import SETTINGS, Config, Setting, config, flag, is_denied
from graphc.compiler.base.deadlines import (
    CancellationToken,
    Deadline,
    Interruption,
    Subject,
    check_interrupted,
    checked_seconds,
    deadline,
    interruption,
    only_interrupted,
)
from graphc.compiler.base.files import File
from graphc.compiler.base.frames import (
    Location,
    has_mark,
    is_graphc_file,
    is_installed_file,
    is_internal_file,
    is_kept,
    is_library_file,
    is_library_module,
    remember,
    thread_location,
    user_frame,
    user_location,
    warn_at,
)
from graphc.compiler.base.interpreter import (
    HeldInterrupts,
    collect_since,
    collection_paused,
    collections_so_far,
    deep_recursion,
    held_interrupts,
    interrupts_held,
)
from graphc.compiler.base.lazy import (
    held_by,
    hint_missing,
    hint_of,
    imported_names,
    lazy_names,
    names_of,
    public_modules,
    refuse_options,
)
from graphc.compiler.base.registry import ABOVE, Registry, UniqueNames, with_article
from graphc.compiler.base.slow_path import (
    SPREAD_ARRAYS,
    other_slow_path_reasons,
    set_slow_path_reason,
    slow_path_reasons,
)
from graphc.compiler.base.version import VERSION
from graphc.compiler.base.waiting import (
    Signal,
    holding,
    listen_to_waits,
    note_progress,
    overseen,
    pause,
    wait_only_for,
    wait_until,
    watched,
)

__all__ = [
    "ABOVE", "SETTINGS", "SPREAD_ARRAYS", "VERSION", "CancellationToken", "Config", "Deadline", "File",
    "HeldInterrupts", "Interruption", "Location", "Pool", "Registry", "Setting", "Signal", "Subject", "UniqueNames",
    "Work", "check_interrupted", "checked_seconds", "collect_since", "collection_paused", "collections_so_far",
    "config", "deadline", "deep_recursion", "errors", "files", "finish_given_up", "flag", "flags", "has_mark",
    "held_by", "held_interrupts", "hint_missing", "hint_of", "holding", "imported_names", "interruption",
    "interrupts_held", "is_denied", "is_graphc_file", "is_installed_file", "is_internal_file", "is_kept",
    "is_library_file", "is_library_module", "lazy_names", "listen_to_waits", "logs", "names_of", "nest",
    "note_progress", "only_interrupted", "other_slow_path_reasons", "overseen", "pause", "public_modules",
    "refuse_options", "remember", "run_on_thread", "set_slow_path_reason", "slow_path_reasons", "start_on_thread",
    "thread_location", "until_called", "user_frame", "user_location", "wait_only_for", "wait_until", "warn_at",
    "watched", "when_done", "with_article",
]  # fmt: skip
