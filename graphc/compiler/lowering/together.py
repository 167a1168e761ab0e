"""Moves the arguments and Variables of a program on several devices to these devices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import jax

from graphc.compiler.core import Variable, array_of, brought, in_fine_words, variable_lock
from graphc.compiler.devices import placed
from graphc.compiler.ops import is_random_state

__all__ = ["Meeting", "meet_others", "register_meeting", "together"]

Meeting = Callable[[Any, Sequence[Any], Sequence[Variable]], None]
_meeting: Meeting | None = None


def register_meeting(meeting: Meeting | None) -> None:
    """Sets the function that synchronizes the processes of a program before it runs; a layer above calls this.

    Args:
      meeting: takes the :class:`Executable`, its inputs and its Variables; raises if the other processes run another
        step.
    """
    global _meeting
    _meeting = meeting


def meet_others(executable: Any, place: Any, arrays: Sequence[Any], variables: Sequence[Variable]) -> None:
    """Synchronizes with the other processes before a program on devices of several processes."""
    if _meeting is not None and place is not None and not place.is_fully_addressable:
        _meeting(executable, arrays, variables)


@contextmanager
def together(place: Any, arrays: Sequence[Any], variables: Sequence[Variable]) -> Generator[Sequence[Any]]:
    """Copies arrays that are not on a program's devices to each of them.

    Variables stay there for the next step. Random states move back: draws run where the state is, and so do the ops on
    their results.

    Args:
      place: the sharding of a copy on each device; None for a program on one device.
      arrays: the inputs.
      variables: the variables that the program reads or writes.

    Yields:
      The inputs, on the devices.
    """
    if place is None:
        yield arrays
        return
    devices = place.device_set
    if _are_there(devices, arrays, variables):
        given = list(arrays)
        with _in_fine_words(variables, given):
            yield given
        return
    away = [variable for variable in variables if variable.raw.sharding.device_set != devices]
    states = [variable for variable in away if is_random_state(variable)]
    with variable_lock:
        for variable in away:
            if not is_random_state(variable):
                variable.raw = placed(variable.raw, place)
    fixed = [isinstance(array, jax.Array) and array.sharding.device_set != devices for array in arrays]
    given = [placed(array, place) if moved else array for array, moved in zip(arrays, fixed, strict=True)]
    with brought(states, place), _in_fine_words(variables, given):
        yield given


def _are_there(devices: Any, arrays: Sequence[Any], variables: Sequence[Variable]) -> bool:
    """Returns True if everything is on these devices; keeps no reference to Variables' arrays, which are donated."""
    found = [array for array in (*map(array_of, variables), *arrays) if isinstance(array, jax.Array)]
    # By identity first, since there are mostly few objects: comparing devices takes longer.
    layouts = {id(layout): layout for layout in [array.sharding for array in found]}
    return all(layout.device_set == devices for layout in layouts.values())


@contextmanager
def _in_fine_words(variables: Sequence[Variable], given: list[Any]) -> Generator[None]:
    """Expresses the first input over the finest mesh inside the scope, if necessary."""
    with variable_lock:  # so that another thread's assignment is not lost
        found = in_fine_words([*map(array_of, variables), *given])
        place, array = cast("tuple[int, Any]", found or (-1, None))
        variable = variables[place] if 0 <= place < len(variables) else None
        before = None if variable is None else array_of(variable).sharding
        if variable is not None:
            variable.raw = array
        elif place >= 0:
            given[place - len(variables)] = array
    found = array = None  # it may be donated
    try:
        yield
    finally:
        if variable is not None:
            with variable_lock:
                variable.raw = jax.device_put(variable.raw, before)
