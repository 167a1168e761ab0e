"""The optimizers of optax by their names: ``gx.optim.Lion`` is made of ``optax.lion`` when it is first asked for."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from typing import Any, ClassVar, Unpack

import jax
import optax

from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.training.optim.named import LearningRate, Named, Options

# The optimizers that most programs want, by name; the rules are optax's.


class SGD(Named):
    """Gradient descent: ``w - learning_rate * gradient``, with momentum if asked for (``optax.sgd``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      momentum: how much of the last step is kept, from 0 to 1; None for none, and no state.
      nesterov: whether the momentum is applied before the gradient is (Nesterov 1983).
      weight_decay: how much of each weight, times the learning rate, is taken off at each step; None for nothing.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

    Raises:
      InvalidTypeError: ``learning_rate`` or ``momentum`` is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.SGD(0.5).apply_gradients([(gx.asarray(1.0), w)])
      >>> w.item()
      0.5
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.01,
        momentum: float | None = None,
        nesterov: bool = False,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            optax.sgd, learning_rate, options, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov
        )


class Adam(Named):
    """Adam: steps scaled by running means of the gradient and its square (Kingma and Ba 2014; ``optax.adam``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step; None for nothing.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.Adam(0.1).apply_gradients([(gx.asarray(7.0), w)])
      >>> f"{w.item():.3f}"
      '0.900'
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(optax.adam, learning_rate, options, weight_decay=weight_decay, b1=b1, b2=b2, eps=eps)


class AdamW(Named):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter 2017; ``optax.adamw``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      b1: the decay of the mean of the gradients.
      b2: the decay of the mean of their squares.
      eps: added to the root of the mean square.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.AdamW(0.1, weight_decay=1.0).apply_gradients([(gx.asarray(0.0), w)])
      >>> f"{w.item():.3f}"
      '0.900'
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 1e-4,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(optax.adam, learning_rate, options, weight_decay=weight_decay, b1=b1, b2=b2, eps=eps)


class RMSprop(Named):
    """Steps scaled by a running mean of the gradient's square (Tieleman and Hinton 2012; ``optax.rmsprop``).

    Args:
      learning_rate: a number, or an optax schedule: a function of the number of updates so far.
      decay: the decay of the mean of the squares.
      eps: added to the mean square, under the root.
      centered: whether the square of the gradient's mean is taken off.
      momentum: how much of the last step is kept, from 0 to 1; None for none.
      weight_decay: how much of each weight, times the learning rate, is taken off at each step.
      **options: clipping and loss scale, see :class:`graphc.optim.Options`.

    Raises:
      InvalidTypeError: one of them is no number.

    Example:
      >>> import graphc as gx
      >>> w = gx.Variable(1.0)
      >>> gx.optim.RMSprop(0.1, decay=0.75).apply_gradients([(gx.asarray(7.0), w)])
      >>> f"{w.item():.3f}"
      '0.800'
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        decay: float = 0.9,
        eps: float = 1e-7,
        centered: bool = False,
        momentum: float | None = None,
        *,
        weight_decay: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            optax.rmsprop, learning_rate, options, weight_decay=weight_decay, decay=decay, eps=eps, centered=centered,
            momentum=momentum,
        )  # fmt: skip


class _FromOptax(Named):
    """An optimizer whose arguments are those of a function of optax, and the options that all optimizers take."""

    _rule: ClassVar[Any]
    _parameters: ClassVar[dict[str, Any]]
    """The defaults of its parameters."""

    def __init__(self, *args: Any, **options: Any) -> None:
        arguments = inspect.signature(self._rule).bind_partial(*args).arguments
        arguments |= {name: options.pop(name) for name in [*options] if name in self._parameters}
        rate = arguments.pop("learning_rate", self._parameters["learning_rate"])
        if rate is inspect.Parameter.empty:
            name = type(self).__name__
            raise InvalidTypeError(f"{name.lower()}: there is no learning_rate; write gx.optim.{name}(0.001)").here()
        numbers = {name: value for name, value in arguments.items() if type(self._parameters[name]) is float}
        # The rule's own decay, where it has one, and not the one that every optimizer here has.
        numbers.pop("weight_decay", None)
        if "weight_decay" not in self._parameters:
            numbers["weight_decay"] = options.pop("weight_decay", None)
        others = {name: value for name, value in arguments.items() if name not in numbers}
        # The rates of rules that need none stand for 1.
        super().__init__(self._chained, 1.0 if rate is None else rate, options, others=others, **numbers)  # pyright: ignore[reportArgumentType]
        _refuse_more_than_gradients(self._rule(1.0, **arguments))

    @classmethod
    def _chained(cls, rate: Any, **arguments: Any) -> optax.GradientTransformation:
        return optax.chain(cls._rule(rate, **arguments))  # a chain's state is a tuple, which others are not


def _refuse_more_than_gradients(rule: optax.GradientTransformation) -> None:
    def update(params: Any) -> Any:
        return rule.update(params, rule.init(params), params)

    try:
        jax.eval_shape(update, [jax.ShapeDtypeStruct((2,), "float32")])
    except TypeError as problem:
        raise UnimplementedError(
            f"this rule of optax needs more than gradients, such as the loss for a line search ({problem}); turn that "
            "off, as by gx.optim.LBFGS(0.1, linesearch=None), or run optax's own loop in gx.call_jax"
        ).here() from None


def _key(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def rules() -> dict[str, Any]:
    """Returns optax's functions of a learning rate that return a transformation, each by its name in lower case."""
    by_name: dict[str, Any] = {}
    for name, rule in inspect.getmembers(optax, inspect.isfunction):
        signature = inspect.signature(rule)
        first = next(iter(signature.parameters), None)
        returned = getattr(signature.return_annotation, "__name__", str(signature.return_annotation))
        if first == "learning_rate" and "GradientTransformation" in returned and not name.startswith(("_", "scale_by")):
            by_name[_key(name)] = rule
    return by_name


def _class_name(rule: Any) -> str:
    return "".join(word.capitalize() for word in rule.__name__.split("_"))


_KNOWN: dict[str, Any] = {kind.__name__.lower(): kind for kind in (SGD, Adam, AdamW, RMSprop)}


def class_of(name: str) -> Any:
    """Returns the optimizer of a name, in whatever case and with or without underscores; None for no optimizer."""
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


# Rules of optimizers told by numbers, made again of their names: another process knows them by these.


def remade(label: str) -> str | None:
    """Returns the registered name of the rule that a name tells, which is made if it is not there.

    Args:
      label: such as ``adam(learning_rate=0.001)``; it is read, and nothing in it is run.

    Returns:
      None for a name that does not tell a rule, as that of a transformation of the user's.

    Example:
      >>> remade("sgd(learning_rate=0.5)"), remade("optimizer")
      ('sgd(learning_rate=0.5, nesterov=False)', None)
    """
    try:
        call = ast.parse(label, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        kind = class_of(call.func.id)
        optimizer = None if kind is None else kind(**options)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return None if optimizer is None else optimizer.transformation
