"""The error for what a user may not do here, with the user's line."""

from __future__ import annotations

from typing import TypeVar

from graphc.compiler.base.errors import GraphcError, InvalidArgumentError

E = TypeVar("E", bound=GraphcError)


def user_error(message: str, kind: type[E] = InvalidArgumentError) -> E:
    """Makes an error whose message ends with the user's line."""
    return kind(message).here()


def refusal(use: str, problem: str, kind: type[E] = InvalidArgumentError) -> E:
    """Makes the error of a function of the user's, which the message names first; see :func:`user_error`."""
    return user_error(f"{use}: {problem}", kind)
