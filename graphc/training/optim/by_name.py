"""The optimizers of optax by their names: ``gx.optim.Lion`` is made of ``optax.lion`` when it is first asked for."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, ClassVar

import jax
import optax

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.training.optim.algorithms import SGD, Adam, AdamW, RMSprop
from graphc.training.optim.named import Named

__all__ = ["class_of", "rules"]


class _FromOptax(Named):
    """An optimizer whose arguments are those of a function of optax, and the options that all optimizers take."""

    _rule: ClassVar[Any]
    _parameters: ClassVar[dict[str, Any]]
    """The defaults of its parameters."""

    def __init__(self, *args: Any, **options: Any) -> None:
        given = inspect.signature(self._rule).bind_partial(*args).arguments
        given |= {name: options.pop(name) for name in [*options] if name in self._parameters}
        rate = given.pop("learning_rate", self._parameters["learning_rate"])
        if rate is inspect.Parameter.empty:
            name = type(self).__name__
            error = InvalidTypeError(f"{name.lower()}: there is no learning_rate; write gx.optim.{name}(0.001)")
            raise at(error, user_location())
        numbers = {name: value for name, value in given.items() if type(self._parameters[name]) is float}
        # The rule's own decay, where it has one, and not the one that every optimizer here has.
        numbers.pop("weight_decay", None)
        if "weight_decay" not in self._parameters:
            numbers["weight_decay"] = options.pop("weight_decay", None)
        others = {name: value for name, value in given.items() if name not in numbers}
        # The rates of rules that need none stand for 1.
        super().__init__(self._chained, 1.0 if rate is None else rate, options, others=others, **numbers)  # pyright: ignore[reportArgumentType]
        _refuse_more_than_gradients(self._rule(1.0, **given))

    @classmethod
    def _chained(cls, rate: Any, **arguments: Any) -> optax.GradientTransformation:
        return optax.chain(cls._rule(rate, **arguments))  # a chain's state is a tuple, which others are not


def _refuse_more_than_gradients(rule: optax.GradientTransformation) -> None:
    def update(params: Any) -> Any:
        return rule.update(params, rule.init(params), params)

    try:
        jax.eval_shape(update, [jax.ShapeDtypeStruct((2,), "float32")])
    except TypeError as problem:
        error = UnimplementedError(
            f"this rule of optax needs more than gradients, such as the loss for a line search ({problem}); turn that "
            "off, as by gx.optim.LBFGS(0.1, linesearch=None), or run optax's own loop in gx.call_jax"
        )
        raise at(error, user_location()) from None


def _key(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def rules() -> dict[str, Any]:
    """Returns optax's functions of a learning rate that return a transformation, each by its name in lower case."""
    found: dict[str, Any] = {}
    for name, rule in inspect.getmembers(optax, inspect.isfunction):
        signature = inspect.signature(rule)
        first = next(iter(signature.parameters), None)
        returned = getattr(signature.return_annotation, "__name__", str(signature.return_annotation))
        if first == "learning_rate" and "GradientTransformation" in returned and not name.startswith(("_", "scale_by")):
            found[_key(name)] = rule
    return found


def _class_name(rule: Any) -> str:
    return "".join(word.capitalize() for word in rule.__name__.split("_"))


_KNOWN: dict[str, Any] = {kind.__name__.lower(): kind for kind in (SGD, Adam, AdamW, RMSprop)}


def class_of(name: str) -> Any:
    """Returns the optimizer of a name, in whatever case and with or without underscores; None for no optimizer.

    Args:
      name: such as ``Lion`` or ``noisy_sgd``.

    Example:
      >>> class_of("noisy_sgd"), class_of("Adam"), class_of("lbgfs")
      (<class 'graphc.training.optim.NoisySgd'>, <class 'graphc.training.optim.algorithms.Adam'>, None)
    """
    key = _key(name)
    if key not in _KNOWN and (rule := rules().get(key)) is not None:
        signature = inspect.signature(rule)
        members = {
            "_rule": staticmethod(rule),
            "_parameters": {name: parameter.default for name, parameter in signature.parameters.items()},
            "__module__": "graphc.training.optim",  # where pickle finds it by its name
            "__doc__": f"``optax.{rule.__name__}``, with its arguments and those of ``gx.optim.Options``.",
            "__signature__": signature,
        }
        _KNOWN.setdefault(key, type(_class_name(rule), (_FromOptax,), members))
    return _KNOWN.get(key)
