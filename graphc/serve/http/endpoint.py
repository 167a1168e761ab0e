"""Endpoint: a function that is served under a name, with its signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.serve.http.forms import Arguments, Form
from graphc.serve.http.numbers import natural
from graphc.serve.http.problems import ProblemError
from graphc.serve.replicas import Replicas

__all__ = ["Endpoint", "Served", "endpoint"]

Served = Callable[..., Any] | Replicas

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A function that is served under a name.

    Attributes:
      name: in the path of its requests.
      replicas: what answers them.
      own: True if the application made the replicas, and closes them.
      forms: its signatures; none where they are not known, and a request may have any arrays.
      examples: arguments of each signature that are compiled before the first request.
    """

    name: str
    replicas: Replicas
    own: bool
    forms: tuple[Form, ...]
    examples: tuple[tuple[tuple[Any, ...], Mapping[str, Any]], ...]

    def arguments(self, given: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of a request as the function takes them.

        Raises:
          ProblemError: they fit no signature, or there is no signature of the name that the request has.
        """
        forms = [form for form in self.forms if given.signature in ("", form.name)]
        if given.signature and not forms:
            names = ", ".join(form.name for form in self.forms) or "none"
            raise ProblemError(404, f"{self.name} has no signature {given.signature!r}; it has: {names}")
        try:
            if not forms:
                args = tuple([natural(value, f"args[{place}]") for place, value in enumerate(given.args)])
                return args, {name: natural(value, name) for name, value in dict(given.kwargs).items()}
            problems: list[str] = []
            for form in forms:
                try:
                    return form.fit(given)
                except InvalidArgumentError as error:
                    problems.append(error.message if len(forms) == 1 else f"{form.name}: {error.message}")
            raise InvalidArgumentError("; ".join(problems))
        except InvalidArgumentError as error:
            raise ProblemError(400, f"{self.name}: {error.message}", kind=type(error).__name__) from None

    def warm_up(self) -> None:
        """Compiles all sizes of all signatures whose shapes are known."""
        for args, kwargs in self.examples:
            self.replicas.warm_up(*args, **kwargs)

    def to_dict(self) -> dict[str, Any]:
        """Returns the name and the signatures in plain dicts and texts."""
        return {"name": self.name, "signatures": [form.to_dict() for form in self.forms]}


def endpoint(name: str, served: Served, example: Any, options: Mapping[str, Any]) -> Endpoint:
    """Makes the endpoint of a function.

    Args:
      name: in the path.
      served: the function, or replicas of it.
      example: arguments of a query as a tuple, with TensorSpecs for arrays whose values do not matter; or a dict of
        such tuples by the names of signatures. None for what ``input_signature`` of a compiled function says.
      options: of :class:`Replicas`.

    Raises:
      InvalidTypeError: the example has another form.
      InvalidArgumentError: the name cannot stand in a path.
    """
    if not _NAME.fullmatch(name):
        raise InvalidArgumentError(f"App: a name has letters, digits, '_', '-' and '.', got {name!r}")
    if example is None:
        example = getattr(served, "input_signature", None)
    by_name = cast("Any", example) if isinstance(example, Mapping) else {} if example is None else {_DEFAULT: example}
    forms: list[Form] = []
    examples: list[Any] = []
    for signature, args in cast("Mapping[str, Any]", by_name).items():
        if not isinstance(args, tuple | list):
            raise InvalidTypeError(
                f"App: the example of {name!r} is a tuple of its arguments, or a dict of such tuples by signature, got "
                f"{type(args).__name__} {args!r:.60}"
            )
        form = Form.of(signature, served, cast("Sequence[Any]", args), {})
        forms.append(form)
        if (found := form.example()) is not None:
            examples.append(found)
    given = isinstance(served, Replicas)
    replicas = served if given else Replicas(served, **options)
    return Endpoint(name, replicas, not given, tuple(forms), tuple(examples))
