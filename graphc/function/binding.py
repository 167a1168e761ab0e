"""How an entry binds the arguments of a call: as Python does, but for what does not fit, which the long way tells.

An entry takes everything by position, since Python itself would refuse a parameter that is given twice, in words of its
own; what comes by keyword is put in its place by a few lines at the start.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphc.base import SPREAD_ARRAYS, detours, other_detours
from graphc.core import busy, occupied
from graphc.function.guards import MISS

if TYPE_CHECKING:
    from graphc.function.guards import Writer

__all__ = ["Binding", "Signals", "signals"]

_UNSET: Any = object()
"""Stands for an argument that is not given."""

_KINDS = inspect.Parameter
_BY_POSITION = (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, eq=False, slots=True)
class Signals:
    """What an entry asks before anything else.

    Attributes:
      busy: the threads that are not eager, and why no thread is; empty where the entry may serve.
      detours: why calls take the long way; the same.
      looks: whether the entry looks for arrays on several devices itself.
    """

    busy: Collection[int]
    detours: Mapping[Hashable, str]
    looks: bool


_USUAL = Signals(busy, detours, looks=False)
_SPREAD = Signals(occupied, other_detours, looks=True)


def signals() -> Signals:
    """Returns what an entry asks that is written now."""
    return _SPREAD if SPREAD_ARRAYS in detours else _USUAL


@dataclass(frozen=True)
class Binding:
    """The text that binds the arguments of an entry.

    Attributes:
      parameters: the function, or None for one that is not to go on by another way; then what it was called with.
      lines: at the start: what came by keyword, whether all fits, and defaults.
      missed: at the end, where the entry does not fit: the call by another way.
    """

    parameters: str
    lines: list[str]
    missed: list[str]

    @classmethod
    def of(
        cls,
        signature: inspect.Signature,
        writer: Writer,
        asked: Signals,
        looked_at: Collection[str] = (),
        fixed: Mapping[str, Any] | None = None,
    ) -> Binding:
        """Returns the text for the parameters of a function.

        Args:
          signature: of the function.
          writer: of the entry; it knows what the code calls the parameters.
          asked: what the entry asks first.
          looked_at: the parameters whose types the code looks at, so that it need not look whether they are given.
          fixed: what some must be given, or are if they are left out; the others have no default then.
        """
        writer.namespace.update(ag__busy=asked.busy, ag__detours=asked.detours)
        writer.namespace.update(ag__UNSET=_UNSET, ag__given=_given, MISS=MISS)
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
        odd = ["(ag__busy or ag__detours) and ag__self is not None"]
        odd += surplus
        defaults = {each.name: each.default for each in found if each.default is not each.empty}
        defaults = defaults if fixed is None else fixed
        given = dict(own)
        for place, each in enumerate((*positional, *by_name)):
            name = own[each.name]
            if each.name in defaults:
                given[each.name] = f"ag__given{place}"  # the defaults may be others when the call goes on
                lines.append(f"ag__given{place} = {name}")
                lines.append(f"if {name} is ag__UNSET: {name} = {writer.constant(defaults[each.name])}")
            elif each.name not in looked_at:
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
    """Returns the arguments of a call as an entry was given them.

    Args:
      positional: what stands for the parameters that may be given by position.
      rest: the positional arguments beyond them.
      named: what was given by name alone.
    """
    values = list(positional.values())
    count = next((place for place, value in enumerate(values) if value is _UNSET), len(values))
    by_name = {**dict(list(positional.items())[count:]), **named}
    return (*values[:count], *rest), {name: value for name, value in by_name.items() if value is not _UNSET}
