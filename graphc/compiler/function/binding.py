"""Binding of a call's arguments in an entry: by Python's rules, with errors left to the slow path.

An entry accepts every argument by position, since Python's own message for a parameter given twice differs; a few lines
at its start move keyword arguments to their positions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphc.compiler.base import SPREAD_ARRAYS, other_slow_path_reasons, slow_path_reasons
from graphc.compiler.core import busy, occupied
from graphc.compiler.function.guards import MISS

if TYPE_CHECKING:
    from graphc.compiler.function.guards import Writer

__all__ = ["Binding", "Signals", "current_signals"]

_UNSET: Any = object()
"""Default of a parameter that was not passed."""

_KINDS = inspect.Parameter
_BY_POSITION = (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, eq=False, slots=True)
class Signals:
    """The state that an entry checks first.

    Attributes:
      busy: the threads that are not eager, and the reasons why none is; empty if the entry may run.
      slow_path_reasons: the reasons why calls take the slow path; empty if the entry may run.
      looks: whether the entry itself checks for arrays on several devices.
    """

    busy: Collection[int]
    slow_path_reasons: Mapping[Hashable, str]
    looks: bool


_USUAL = Signals(busy, slow_path_reasons, looks=False)
_SPREAD = Signals(occupied, other_slow_path_reasons, looks=True)


def current_signals() -> Signals:
    """Returns the signals for an entry that is written now."""
    return _SPREAD if SPREAD_ARRAYS in slow_path_reasons else _USUAL


@dataclass(frozen=True)
class Binding:
    """The code that binds the arguments of an entry.

    Attributes:
      parameters: the function, or None to decline the call; then the call's arguments.
      lines: the code at the start: keyword arguments, the check that all arguments fit, and defaults.
      missed: the code at the end, for a call that the entry cannot serve: the slow path.
    """

    parameters: str
    lines: list[str]
    missed: list[str]

    @classmethod
    def of(
        cls,
        signature: inspect.Signature,
        writer: Writer,
        signals: Signals,
        checked: Collection[str] = (),
        fixed: Mapping[str, Any] | None = None,
        passes: Callable[[], bool] | None = None,
    ) -> Binding:
        """Returns the code for a function's parameters.

        Args:
          writer: the entry's writer, which knows the parameters' names in the code.
          signals: the signals that the entry checks first.
          checked: the parameters whose types the code checks, so that it does not check whether they were passed.
          fixed: required values of parameters, also used if they are not passed; the other parameters then have no
            defaults.
          passes: returns True if the entry may run in a thread that is busy; None if it may not.
        """
        writer.namespace.update(ag__busy=signals.busy, ag__slow_path=signals.slow_path_reasons)
        writer.namespace.update(ag__UNSET=_UNSET, ag__given=_given, ag__passes=passes, MISS=MISS)
        own, found = writer.parameters, signature.parameters.values()
        all_of = {each.kind: own[each.name] for each in found}
        rest, more = all_of.get(_KINDS.VAR_POSITIONAL, "ag__rest"), all_of.get(_KINDS.VAR_KEYWORD, "ag__more")
        positional = [each for each in found if each.kind in _BY_POSITION]
        by_name = [each for each in found if each.kind is _KINDS.KEYWORD_ONLY]
        lines = [f"{own[each.name]} = ag__UNSET" for each in by_name]
        named = [each.name for each in (*positional, *by_name) if each.kind is not _KINDS.POSITIONAL_ONLY]
        fill = [f"    if {own[name]} is ag__UNSET: {own[name]} = {more}.pop({name!r}, ag__UNSET)" for name in named]
        lines += [f"if {more}:", *fill] if fill else []
        surplus = [name for name in ("ag__rest", "ag__more") if name in (rest, more)]
        busy = "ag__busy and not ag__passes()" if passes else "ag__busy"
        odd = [f"ag__self is not None and ({busy} or ag__slow_path)"]
        odd += surplus
        defaults = {each.name: each.default for each in found if each.default is not each.empty}
        defaults = defaults if fixed is None else fixed
        given = dict(own)
        for place, each in enumerate((*positional, *by_name)):
            name = own[each.name]
            if each.name in defaults:
                given[each.name] = f"ag__given{place}"  # the defaults may differ when the slow path runs
                lines.append(f"ag__given{place} = {name}")
                lines.append(f"if {name} is ag__UNSET: {name} = {writer.constant(defaults[each.name])}")
            elif each.name not in checked:
                odd.append(f"{name} is ag__UNSET")
        lines.append(f"if {' or '.join(odd)}: {writer.miss}")
        first = "".join(f"{each.name!r}: {given[each.name]}, " for each in positional)
        others = "".join(f"{each.name!r}: {given[each.name]}, " for each in by_name)
        fitting = [*(given[each.name] for each in positional), *([f"*{rest}"] if rest in own.values() else [])]
        fitting += [f"{each.name}={given[each.name]}" for each in by_name]
        fitting += [f"**{more}"] if more in own.values() else []
        unset = [f"{given[each.name]} is ag__UNSET" for each in (*positional, *by_name)]
        missed = [
            "if ag__self is None: return MISS",
            f"if not ({' or '.join([*surplus, *unset]) or 'False'}): return ag__self.general({', '.join(fitting)})",
            f"ag__args, ag__kwargs = ag__given({{{first}}}, {rest}, {{{others}**{more}}})",
            "return ag__self.general(*ag__args, **ag__kwargs)",
        ]
        parameters = [*(f"{own[each.name]}=ag__UNSET" for each in positional), "/", f"*{rest}", f"**{more}"]
        return cls(", ".join(["ag__self", *parameters]), lines, missed)


def _given(
    positional: Mapping[str, Any], rest: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call from those of an entry.

    Args:
      positional: the values of the parameters that may be passed by position.
      named: the keyword-only arguments.
    """
    values = list(positional.values())
    count = next((place for place, value in enumerate(values) if value is _UNSET), len(values))
    by_name = {**dict(list(positional.items())[count:]), **named}
    return (*values[:count], *rest), {name: value for name, value in by_name.items() if value is not _UNSET}
