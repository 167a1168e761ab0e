"""The functions of the module ``math``, of tensors of one element and of numbers that depend on tensors.

In eager code they give Python numbers, so here they give numbers known at run time only, which graphc computes. Where
Python raises for a value (``math domain error``) so does the call. The numbers have 32 bits: a logarithm or root that
is whole in Python is whole here too, since what follows may count on it (``int(math.log2(n))``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.branches.branch import itself
from graphc.compiler.autograph.constructs.branches.logic import and_, not_, or_, require
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.expressions.assignments import delete_item, inplace, store_item
from graphc.compiler.autograph.constructs.expressions.comparisons import compare, contains, is_, is_not
from graphc.compiler.autograph.constructs.expressions.operators import BINARY, binary, load_item, unary
from graphc.compiler.autograph.constructs.overrides import Functions, of_values
from graphc.compiler.autograph.constructs.purity.watch import operator_method
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.kinds import found_on
from graphc.compiler.autograph.values.number import SymbolicNumber, any_joined, is_whole, kind_of, number
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor
from graphc.compiler.ops import special
from graphc.compiler.tracing import current_trace

Native = Callable[..., Any]

_INFINITY = math.inf


def _symbolic(value: Any) -> bool:
    return isinstance(value, SymbolicTensor)


def _result(value: Any, kind: type[Any], operands: Sequence[Any]) -> SymbolicNumber:
    """Returns a tensor that graphc computed, as the number that it is in Python."""
    computed = number(value, kind) if kind is float and not value.type.weak else value
    return SymbolicNumber(computed, kind, joined=any_joined(operands))


def _given(value: Any) -> Any:
    """Returns an argument; of an object of the user's, the float that it gives. Of a float Python asks nothing."""
    asks = not isinstance(value, float) and operator_method(value, "__float__", "__index__") is not None
    return call(float)(value) if asks else value


def _of_floats(stands_for: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function of floats, which objects of the user's may give."""

    def replaced(native: Native, *args: Any, **options: Any) -> Any:
        return stands_for(native, *map(_given, args), **options)

    return replaced


def _as_float(value: Any) -> Any:
    """Returns an argument as the float that a function of ``math`` makes of it."""
    if is_symbolic(value):
        return call(float)(value)
    return math.copysign(value, value)  # a float, or what Python says of what is none


# --- functions of floats


@dataclass(frozen=True)
class _Domain:
    """The arguments for which Python raises."""

    holds: Callable[..., Any]  # whether Python raises for these arguments, which may be tensors
    example: tuple[float, ...]  # arguments for which it does


def _where(holds: Callable[[Any], Any], example: float) -> _Domain:
    return _Domain(holds, (example,))


def _where_both(holds: Callable[[Any, Any], Any], *example: float) -> _Domain:
    return _Domain(holds, example)


def _all(*conditions: Any) -> Any:
    return and_(*[partial(itself, condition) for condition in conditions])


def _any(*conditions: Any) -> Any:
    return or_(*[partial(itself, condition) for condition in conditions])


def _check(native: Native, domains: Sequence[_Domain], operands: Sequence[Any]) -> None:
    for domain in domains:
        if len(domain.example) == len(operands):
            require(not_(domain.holds(*operands)), partial(_error_of, native, domain.example))


def _error_of(native: Native, example: tuple[float, ...]) -> Exception:
    """Returns what Python raises for such arguments."""
    try:
        native(*example)
    except (ArithmeticError, ValueError) as error:
        return error
    raise AssertionError


def _function(compute: Callable[..., Any], *domains: _Domain, kind: type[Any] = float) -> Callable[..., Any]:
    """Returns what stands for a function of floats."""

    def replaced(native: Native, *args: Any) -> Any:
        if not any(map(_symbolic, args)):
            return native(*args)
        operands = [_as_float(value) for value in args]
        _check(native, domains, operands)
        return _result(compute(*operands), kind, operands)

    return replaced


def _exceeds(limit: float) -> _Domain:
    """Returns the domain error of results above 64 bits; results that only 32 bits cannot hold are infinite."""
    return _where(lambda x: _all(x > limit, x < _INFINITY), 1e4)


def _exceeds_either_way(limit: float) -> _Domain:
    return _where(lambda x: _all(abs(x) > limit, abs(x) < _INFINITY), 1e4)


def _is_whole(x: Any) -> Any:
    return FUNCTIONS["floor"](x) == x if _symbolic(x) else not math.isfinite(x) or x == math.floor(x)


def _power_domains() -> tuple[_Domain, ...]:
    def complex_power(x: Any, y: Any) -> Any:
        return _all(x < 0, x > -_INFINITY, abs(y) < _INFINITY, not_(_is_whole(y)))

    def no_inverse(x: Any, y: Any) -> Any:
        return _all(x == 0, y < 0, y > -_INFINITY)

    def too_large(x: Any, y: Any) -> Any:
        bits = FUNCTIONS["log2"](FUNCTIONS["abs"](x)) * y
        return _all(bits >= 1024.0, abs(x) < _INFINITY, abs(y) < _INFINITY)

    return _Domain(complex_power, (-1.0, 0.5)), _Domain(no_inverse, (0.0, -1.0)), _Domain(too_large, (10.0, 1e4))


_POLES = _where(lambda x: _all(x <= 0, _is_whole(x)), -1.0)
_OUTSIDE = _where(lambda x: abs(x) > 1, 2.0)
_INFINITE = _where(lambda x: abs(x) == _INFINITY, _INFINITY)
_NOT_POSITIVE = _where(lambda x: x <= 0, -1.0)


def _fmod_domain(x: Any, y: Any) -> Any:
    return _any(_all(y == 0, x == x), _all(abs(x) == _INFINITY, y == y))


def _cbrt(x: Any) -> Any:
    root = FUNCTIONS["cbrt"](x)
    whole = FUNCTIONS["round"](root)
    return FUNCTIONS["where"](whole * whole * whole == x, whole, root)


# --- logarithms


def _whole_logarithm(base: float, x: Any, logarithm: Any) -> Any:
    """Returns a logarithm, which is whole for what is a power of the base."""
    powers: list[float] = []
    kind = logarithm.dtype.type if logarithm.dtype.kind == "f" else np.float32
    limits = np.finfo(kind)
    lowest = int(limits.minexp) if base == 2 else 0
    for exponent in range(lowest, int(limits.maxexp)):
        power = base**exponent if exponent * math.log2(base) < limits.maxexp else math.inf
        if power > limits.max or float(kind(power)) != power:
            break
        powers.append(power)
    if len(powers) < 2:
        return logarithm
    whole = FUNCTIONS["round"](logarithm)
    index = FUNCTIONS["astype"](FUNCTIONS["clip"](whole - lowest, 0, len(powers) - 1), "int32")
    power = FUNCTIONS["take"](np.array(powers, kind), index)
    return FUNCTIONS["where"](power == x, whole, logarithm)


def _log2(x: Any) -> Any:
    return _whole_logarithm(2.0, x, FUNCTIONS["log2"](x))


def _log10(x: Any) -> Any:
    return _whole_logarithm(10.0, x, FUNCTIONS["log10"](x))


def _log(native: Native, x: Any, *base: Any) -> Any:
    """``math.log``, of one argument or with a base."""
    if not any(map(_symbolic, (x, *base))) or len(base) > 1:
        return native(x, *base)
    operands = [_as_float(value) for value in (x, *base)]
    _check(native, (_NOT_POSITIVE, *_BASES), operands)
    logarithms = [_natural_log(value) for value in operands]
    if not base:
        return _result(logarithms[0], float, operands)
    quotient = logarithms[0] / logarithms[1]
    if _symbolic(operands[0]) and not _symbolic(operands[1]) and operands[1] > 1 and operands[1].is_integer():
        quotient = _whole_logarithm(operands[1], operands[0], quotient)
    return _result(quotient, float, operands)


def _natural_log(value: Any) -> Any:
    # Where Python raises, the program goes on to its end with what graphc gives.
    return FUNCTIONS["log"](value) if _symbolic(value) else math.log(value) if value > 0 else math.nan


_BASES = (
    _where_both(lambda x, base: _any(x <= 0, base <= 0), -1.0, 2.0),
    _where_both(lambda x, base: base == 1, 2.0, 1.0),
)


# --- whole numbers


def _whole(op: str) -> Callable[..., Any]:
    """``math.floor``, ``ceil`` or ``trunc``."""

    def replaced(native: Native, x: Any, /) -> Any:
        if (method := operator_method(x, f"__{op}__")) is not None:
            return call(method)(x)
        if op != "trunc" and found_on(cast("type[Any]", type(x)), f"__{op}__") is None:  # trunc asks for no __float__
            x = _given(x)
        if not _symbolic(x):
            return native(x)
        if op == "trunc" and kind_of(x) is None:
            raise current_trace().refuse(InvalidTypeError("type Tensor doesn't define __trunc__ method; use int(x)"))
        if is_whole(x):
            return number(x, int)
        return call(int)(FUNCTIONS[op](_as_float(x)))

    return replaced


# --- several numbers


def _hypot(*values: Any) -> Any:
    first, *others = values
    return reduce(FUNCTIONS["hypot"], others, FUNCTIONS["abs"](first))


def _isclose(native: Native, a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    if not any(map(_symbolic, (a, b, rel_tol, abs_tol))):
        return native(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    if _symbolic(rel_tol) or 0 < rel_tol < _CLOSE:
        error = UnimplementedError(
            f"math.isclose with rel_tol={rel_tol if not _symbolic(rel_tol) else 'a tensor'} of numbers that depend on "
            f"tensors, which have 32 bits, about 7 digits; pass rel_tol={_CLOSE} or more, or rel_tol=0 and an abs_tol"
        )
        raise current_trace().refuse(error)
    if rel_tol < 0 or (not _symbolic(abs_tol) and abs_tol < 0):
        return native(0.0, 0.0, rel_tol=rel_tol, abs_tol=abs_tol)  # says what Python says
    first, second, limit = map(_as_float, (a, b, abs_tol))
    larger = FUNCTIONS["maximum"](FUNCTIONS["abs"](first), FUNCTIONS["abs"](second))
    near = FUNCTIONS["abs"](first - second) <= FUNCTIONS["maximum"](larger * rel_tol, limit)
    close = _any(first == second, _all(near, FUNCTIONS["isfinite"](larger)))
    return SymbolicNumber(close, bool) if _symbolic(close) else close


_CLOSE = 1e-6


# --- what there is not


def _without(name: str, remedy: str) -> Callable[..., Any]:
    def replaced(native: Native, *args: Any, **options: Any) -> Any:
        if any(map(_symbolic, args)):
            error = UnimplementedError(
                f"math.{name} of what depends on tensors, which has no value while the function is traced; {remedy}"
            )
            raise current_trace().refuse(error)
        return native(*args, **options)

    return replaced


_REMEDIES = {
    "comb": "use gx.special.comb(n, k), which gives a float",
    "dist": "write math.hypot(*[a - b for a, b in zip(p, q)])",
    "factorial": "use math.gamma(n + 1.0), which gives a float",
    "fma": "write x * y + z",
    "frexp": "write e = math.floor(math.log2(abs(x))) + 1 and x / 2.0**e",
    "fsum": "use sum(items)",
    "gcd": "write a loop with `a, b = b, a % b`, or use gx.gcd(a, b) of tensors",
    "isqrt": "write int(math.sqrt(n)), which is exact below 2**24",
    "lcm": "write abs(a * b) // gcd(a, b) with a loop for gcd, or use gx.lcm(a, b) of tensors",
    "ldexp": "write x * 2.0**i",
    "modf": "use gx.modf(x) of a tensor",
    "nextafter": "use gx.nextafter(x, y) of tensors",
    "perm": "write a loop over range(k), or gx.special.comb(n, k) * math.factorial(k)",
    "remainder": "write x - y * round(x / y)",
    "sumprod": "write sum(a * b for a, b in zip(p, q))",
    "ulp": "use gx.finfo of a tensor's dtype",
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: _function(FUNCTIONS[name])
        for name in ("asinh", "atan", "atan2", "copysign", "degrees", "radians", "tanh")
    },
    **{name: _function(FUNCTIONS[name], kind=bool) for name in ("isfinite", "isinf", "isnan")},
    **{name: _function(FUNCTIONS[name], _OUTSIDE) for name in ("acos", "asin")},
    **{name: _function(FUNCTIONS[name], _INFINITE) for name in ("cos", "sin", "tan")},
    **{name: _function(FUNCTIONS[name], _exceeds(709.782712893384)) for name in ("exp", "expm1")},
    **{name: _function(FUNCTIONS[name], _exceeds_either_way(710.4758600739439)) for name in ("cosh", "sinh")},
    **{name: _whole(name) for name in ("ceil", "floor", "trunc")},
    **{name: _without(name, remedy) for name, remedy in _REMEDIES.items()},
    "acosh": _function(FUNCTIONS["acosh"], _where(lambda x: x < 1, 0.0)),
    "atanh": _function(FUNCTIONS["atanh"], _where(lambda x: abs(x) >= 1, 1.0)),
    "cbrt": _function(_cbrt),
    "erf": _function(special.erf),
    "erfc": _function(special.erfc),
    "exp2": _function(FUNCTIONS["exp2"], _exceeds(1023.9999999)),
    "fabs": _function(FUNCTIONS["abs"]),
    "fmod": _function(FUNCTIONS["fmod"], _Domain(_fmod_domain, (1.0, 0.0))),
    "gamma": _function(special.gamma, _POLES, _exceeds(171.6243769563027)),
    "hypot": _function(_hypot),
    "isclose": _isclose,
    "lgamma": _function(special.gammaln, _where(lambda x: _all(_POLES.holds(x), x > -_INFINITY), -1.0)),
    "log": _log,
    "log10": _function(_log10, _NOT_POSITIVE),
    "log1p": _function(FUNCTIONS["log1p"], _where(lambda x: x <= -1, -2.0)),
    "log2": _function(_log2, _NOT_POSITIVE),
    "pow": _function(FUNCTIONS["pow"], *_power_domains()),
    "sqrt": _function(FUNCTIONS["sqrt"], _where(lambda x: x < 0, -1.0)),
}

_NOT_OF_FLOATS = (
    *("ceil", "floor", "trunc"),  # which have methods of their own
    *("comb", "factorial", "gcd", "isqrt", "lcm", "perm"),
    *("dist", "fsum", "sumprod"),
)

OVERRIDES: Functions = {
    getattr(math, name): of_values(stands if name in _NOT_OF_FLOATS else _of_floats(stands))
    for name, stands in _FUNCTIONS.items()
    if hasattr(math, name)
}


# The functions of the module ``operator``: the operators themselves, as converted code calls them.


def _meaning(symbol: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function that does what an operator does."""

    def replaced(native: Native, *operands: Any) -> Any:
        del native
        return run(symbol, *operands)

    return replaced


def _plain(run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function that takes the same arguments as an operator of converted code."""

    def replaced(native: Native, *operands: Any) -> Any:
        del native
        return run(*operands)

    return replaced


def _calling(function: Any) -> Callable[..., Any]:
    """Returns what stands for a function that calls a builtin one."""
    return _plain(lambda *operands: call(function)(*operands))


def _contains(native: Native, container: Any, item: Any, /) -> Any:
    del native
    return contains(item, container)


def _index(native: Native, value: Any, /) -> Any:
    """``operator.index``: of an integer tensor, or a number that depends on tensors, an int of the same value."""
    whole = isinstance(value, SymbolicTensor) and value.size == 1 and value.dtype.kind in "iub"
    if not whole or is_whole(value) is False:
        return native(value)
    return whole_number(value)


_ORDERS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}

_UNARY = (("-", operator.neg), ("+", operator.pos), ("~", operator.invert))


def _in_place(native: Any) -> Any:
    """Returns the function of ``a += b`` that belongs to that of ``a + b``."""
    return getattr(operator, f"i{native.__name__.rstrip('_')}")


OPERATOR_FUNCTIONS: Functions = {
    **{native: _meaning(symbol, binary) for symbol, (native, _, _) in BINARY.items()},
    **{_in_place(native): _meaning(symbol, inplace) for symbol, (native, _, _) in BINARY.items()},
    **{getattr(operator, name): _meaning(symbol, compare) for symbol, name in _ORDERS.items()},
    **{native: _meaning(symbol, unary) for symbol, native in _UNARY},
    operator.abs: _calling(abs),
    operator.concat: _meaning("+", binary),
    operator.contains: _contains,
    operator.delitem: _plain(delete_item),
    operator.getitem: _plain(load_item),
    operator.iconcat: _meaning("+", inplace),
    operator.index: _index,
    operator.inv: _meaning("~", unary),
    operator.is_: _plain(is_),
    operator.is_not: _plain(is_not),
    operator.not_: _plain(not_),
    operator.setitem: _plain(store_item),
    operator.truth: _calling(bool),
}
