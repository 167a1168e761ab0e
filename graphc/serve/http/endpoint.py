"""Endpoint: a function served under a name, with its signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.serve.http.bodies import Budget
from graphc.serve.http.forms import Arguments, Form
from graphc.serve.http.numbers import natural, shown
from graphc.serve.http.problems import ProblemError
from graphc.serve.replicas import Replicas

__all__ = ["Endpoint", "Offer", "Served", "endpoint", "offer"]

Served = Callable[..., Any] | Replicas

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A function served under a name.

    Attributes:
      name: its name in the path of requests.
      replicas: the replicas that answer them.
      own: True if the application made the replicas, and closes them.
      forms: the forms of its signatures; none if unknown, so that a request may have any arrays.
      examples: arguments of each signature, to compile before the first request.
    """

    name: str
    replicas: Replicas
    own: bool
    forms: tuple[Form, ...]
    examples: tuple[tuple[tuple[Any, ...], Mapping[str, Any]], ...]

    def arguments(self, given: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Converts the arguments of a request to the function's.

        Raises:
          ProblemError: they match no signature, or the named signature does not exist.
        """
        forms = [form for form in self.forms if given.signature in ("", form.name)]
        if given.signature and not forms:
            names = ", ".join(form.name for form in self.forms) or "none"
            raise ProblemError(404, f"{self.name} has no signature {shown(given.signature)}; it has: {names}")
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
        except RecursionError:
            raise ProblemError(400, f"{self.name}: the body nests too deep") from None
        except InvalidArgumentError as error:
            raise ProblemError(400, f"{self.name}: {error.message}", kind=type(error).__name__) from None

    def budget(self, num_bytes: int) -> Budget:
        """Returns the limits of a request's body, of which the largest size is given."""
        return Budget.of(self.forms, self.replicas.max_waiting, num_bytes)

    def warm_up(self) -> None:
        """Compiles all sizes of all signatures with known shapes."""
        for args, kwargs in self.examples:
            self.replicas.warm_up(*args, **kwargs)

    def to_dict(self) -> dict[str, Any]:
        """Returns the name and the signatures as plain dicts and strings."""
        return {"name": self.name, "signatures": [form.to_dict() for form in self.forms]}


@dataclass(frozen=True)
class Offer:
    """A function, with what is known about its queries.

    Attributes:
      function: the function, or replicas of it.
      forms: the forms of its signatures; none if unknown.
      sizes: the numbers of rows that it accepts; None for any number.
      least: the minimum number of rows.
    """

    function: Served
    forms: tuple[Form, ...] = ()
    sizes: tuple[int, ...] | None = None
    least: int = 1

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the options of :class:`Replicas`, with the sizes that the function supports."""
        if self.sizes is not None:
            return {**given, "sizes": self.sizes, "max_batch": self.sizes[-1]}
        if self.least > 1 and given.get("sizes") is None:
            most = max(given.get("max_batch", 32), self.least)
            powers = [2**power for power in range(most.bit_length()) if self.least <= 2**power < most]
            return {**given, "sizes": [*powers, most], "max_batch": most}
        return dict(given)


def offer(name: str, served: Served, example: Any = None) -> Offer:
    """Returns the offer of a function.

    Args:
      name: the name of the function.
      served: the function, or replicas of it.
      example: example arguments of a query as a tuple, with TensorSpecs for arrays of any values; or a dict of such
        tuples by signature name. None for the ``input_signature`` of a compiled function.

    Raises:
      InvalidTypeError: the example has another form.

    Example:
      >>> import graphc as gx
      >>> str(gx.serve.offer("norm", gx.linalg.norm, (gx.ones((1, 3)),)).forms[0])
      'x: float32[?,3]'
    """
    if example is None:
        example = getattr(served, "input_signature", None)
    by_name = cast("Any", example) if isinstance(example, Mapping) else {} if example is None else {_DEFAULT: example}
    forms: list[Form] = []
    for signature, args in cast("Mapping[str, Any]", by_name).items():
        if not isinstance(args, tuple | list):
            raise InvalidTypeError(
                f"App: the example of {name!r} is a tuple of its arguments, or a dict of such tuples by signature, got "
                f"{type(args).__name__} {args!r:.60}"
            )
        forms.append(Form.of(signature, served, cast("Sequence[Any]", args), {}))
    return Offer(served, tuple(forms))


def endpoint(name: str, offered: Offer, options: Mapping[str, Any]) -> Endpoint:
    """Makes the endpoint of a function.

    Args:
      name: the name in the path.
      offered: the function and its signatures.
      options: options of :class:`Replicas`.

    Raises:
      InvalidArgumentError: the name cannot stand in a path.
    """
    if not _NAME.fullmatch(name):
        raise InvalidArgumentError(f"App: a name has letters, digits, '_', '-' and '.', got {name!r}")
    examples = tuple([found for form in offered.forms if (found := form.example()) is not None])
    if isinstance(offered.function, Replicas):
        return Endpoint(name, offered.function, False, offered.forms, examples)
    return Endpoint(
        name, Replicas(offered.function, name=name, **offered.options(options)), True, offered.forms, examples
    )
