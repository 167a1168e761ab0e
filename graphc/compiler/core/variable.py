"""Variable: mutable state.

In eager mode a variable is a slot that holds an array. While a function is traced, reads and writes go to the trace,
which makes the variable an input of the compiled program, and an output if it is written.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

from graphc.compiler.base import UniqueNames, config, slow_path_reasons, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core.array_export import check_leaves, shown, when_jax_converts
from graphc.compiler.core.array_methods import FUNCTIONS, ArrayMethods
from graphc.compiler.core.context import context, device_scope, open_tapes
from graphc.compiler.core.convert import ArrayLike, operand
from graphc.compiler.core.dtypes import as_dtype, fitted_int, has_large_ints, type_of
from graphc.compiler.core.fast_path import HOLDERS
from graphc.compiler.core.multi_device import host_values, is_elsewhere, note_spread
from graphc.compiler.core.name_scopes import scoped_name
from graphc.compiler.core.op_errors import shorten, with_short_errors
from graphc.compiler.core.placing import log_placement, variable_device
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.core.tensor import Tensor, variable_representation
from graphc.compiler.core.threads import note_results
from graphc.compiler.core.variable_arrays import array_of, new_array, variable_lock
from graphc.compiler.core.waiting import describe, wait_for
from graphc.compiler.devices import device_name, find_device, laid_out, placed
from graphc.compiler.ir import WORLD, TensorType

_names = UniqueNames()
_names(WORLD)  # a resource of its own


class _Placement(threading.local):
    """The placement of a thread's new variables, which scopes of several devices set."""

    choose: Callable[[str, Any], Sharding] | None = None  # of a name and an initial array; None: default device
    made: Callable[[Variable], None] | None = None  # called with each new Variable


variable_placement = _Placement()


def _refused_in_place(symbol: str, update: str = "") -> Callable[[Any, Any], NoReturn]:
    """Returns the operator for ``v += value`` and the like, which would rebind ``v`` to a tensor."""

    def refuse(self: Variable, value: Any) -> NoReturn:
        del value
        error = UnimplementedError(
            f"{symbol}= of Variable {self.name!r} would replace it by a tensor; write "
            f"variable.{update or f'assign(variable {symbol} value)'} to change it, or "
            f"x = variable {symbol} value for a tensor"
        )
        raise error.here() if context.trace is None else context.trace.refuse(error)

    return refuse


class Variable(ArrayMethods):
    """A tensor that can be assigned to; its shape and dtype are fixed.

    A compiled function updates the variables that it writes in place: their buffers are donated to the program, unless
    something else still refers to them. A failed call leaves every variable unchanged.

    Args:
      initial_value: a tensor, array, number, nested list, or a function of no arguments that returns one. It is copied.
      trainable: whether layers report it as a trainable weight and tapes watch it.
      name: the name shown to users; made unique by a suffix.
      dtype: the dtype to convert to; None for that of ``initial_value``.

    Raises:
      VariableCreationError: a compiled function makes variables after its first call.
      InvalidTypeError: ``initial_value`` cannot be a tensor.

    Example:
      >>> import graphc as gx
      >>> v = gx.Variable([1.0, 2.0], name="v")
      >>> _ = v.assign_add([10.0, 10.0])
      >>> v.numpy()
      array([11., 12.], dtype=float32)
    """

    __slots__ = ("_array", "_type", "name", "trainable")

    _array: jax.Array | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Variable:
        """Makes a Variable of the graph if one is being built by hand; it has a value in each Session."""
        trace = context.trace
        if trace is not None and cls is Variable and trace.root.is_graph:
            return object.__new__(trace.root.variable_class)
        return object.__new__(cls)

    @with_short_errors
    def __init__(
        self,
        initial_value: ArrayLike | Callable[[], ArrayLike],
        *,
        trainable: bool = True,
        name: str = "Variable",
        dtype: Any = None,
    ) -> None:
        if (trace := context.trace) is not None:
            with trace.making():
                initial_value = trace.known_value(initial_value)
                Variable.__init__(self, initial_value, trainable=trainable, name=name, dtype=dtype)
            return
        value = _operand(initial_value() if callable(initial_value) else initial_value, f"Variable {name!r}")
        raw = _raw(value)
        own_dtype: Any = getattr(raw, "dtype", None)
        wanted = as_dtype(dtype if dtype is not None else type(raw) if own_dtype is None else own_dtype)
        if type(raw) is int:
            raw = _number(raw, wanted, f"Variable {name!r}")
        choose = variable_placement.choose
        self.name = _names(scoped_name(name))
        if choose is not None and isinstance(raw, np.ndarray):
            # Each device receives its part from the host; no device holds the whole.
            array: Any = np.array(cast("Any", raw), wanted)
        else:
            array = new_array(raw, wanted)
        self._type = type_of(array)
        self.trainable = trainable
        requested = ""
        if choose is not None:
            array = laid_out(array, choose(self.name, array))
            note_spread(array.sharding)
        elif context.device:
            requested = variable_device(self.name, self._type, trainable)
            if requested:
                array = jax.device_put(array, find_device(requested, quiet=True))
        self._array = array
        if context.placing:
            log_placement("variable", self.name, requested, self.device, user_location())
        if context.creating is not None:
            context.creating.note_made(self)
        if variable_placement.made is not None:
            variable_placement.made(self)

    @property
    def raw(self) -> jax.Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The array that holds the value; waits while a program in another thread replaces it.

        Raises:
          UnimplementedError: in a compiled function, where it would be the current value in every call.
          FailedPreconditionError: Python code called by a program reads a variable that the program replaces.
        """
        if context.trace is not None:
            error = UnimplementedError(
                f"raw of Variable {self.name!r} would be a constant, its array while the function is traced; "
                "use value()"
            )
            raise context.trace.refuse(error)
        return array_of(self)

    @raw.setter
    def raw(self, array: jax.Array) -> None:
        with variable_lock:
            self._array = array

    @property
    def type(self) -> TensorType:
        """Shape and dtype together."""
        return self._type

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self._type.dtype

    @property
    def device(self) -> str:
        """The device that holds the value; several devices are joined by commas."""
        return ", ".join(sorted(device_name(device) for device in array_of(self).devices()))

    @property
    def sharding(self) -> Sharding:
        """The layout of the value on its devices; see :attr:`graphc.Tensor.sharding`.

        Assignments keep the layout.
        """
        return array_of(self).sharding

    def value(self) -> Tensor:
        """Returns the current value as a tensor, which later assignments do not change."""
        trace = context.trace
        tensor = trace.read(self) if trace is not None else Tensor(array_of(self))
        for tape in context.tapes:
            tape.record_read(self, tensor)
        if open_tapes:
            note_results((self,), (tensor,))
        return tensor

    def read_value(self) -> Tensor:
        """Returns the current value as a tensor, like :meth:`value` (TensorFlow's name)."""
        return self.value()

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the current value as a new NumPy array."""
        if context.trace is not None:
            return self.value().numpy()
        array = array_of(self)
        if slow_path_reasons:
            wait_for((array,), lambda: f"Variable {self.name!r}: {describe(array)}")
        copy = np.array(host_values(array))
        return shown(copy, self) if context.tapes or open_tapes else copy

    def assign(self, value: ArrayLike) -> Variable:
        """Sets the value.

        Args:
          value: a value of exactly the variable's shape; a Python number or a weakly typed tensor is converted to its
            dtype.

        Returns:
          The variable itself.

        Raises:
          InvalidArgumentError: the value has another shape.
          InvalidTypeError: the value has another dtype.
        """
        try:
            new = self._check(_operand(value, f"assign to Variable {self.name!r}"))
        except Exception as error:
            shorten(error)
            raise
        trace = context.trace
        if trace is not None:
            trace.assign(self, new)
        else:
            if context.creating is not None:
                context.creating.note(self)
            self.raw = self._stored(_raw(new))
        return self

    def assign_add(self, value: ArrayLike) -> Variable:
        """Adds to the value, atomically among threads; otherwise like :meth:`assign`."""
        try:
            return self._updated(lambda: self._with(operator.add, value))
        except Exception as error:
            shorten(error)
            raise

    def assign_sub(self, value: ArrayLike) -> Variable:
        """Subtracts from the value, atomically among threads; otherwise like :meth:`assign`."""
        try:
            return self._updated(lambda: self._with(operator.sub, value))
        except Exception as error:
            shorten(error)
            raise

    def _updated(self, new_value: Callable[[], Any]) -> Variable:
        """Assigns a result computed from the value; recomputes it if another thread has assigned meanwhile."""
        if context.trace is not None:
            if context.updates is not None:
                context.updates.note_sum(self)
            return self.assign(new_value())
        while True:
            before = array_of(self)
            new = self._stored(_raw(self._check(_operand(new_value(), f"assign to Variable {self.name!r}"))))
            if context.creating is not None:
                context.creating.note(self)
            with variable_lock:
                if self._array is before:
                    self._array = new
                    return self

    def _with(self, operation: Callable[[Any, Any], Any], value: ArrayLike) -> Any:
        """Returns an operation on the value and another, computed on the variable's device unless a scope sets one."""
        try:
            return operation(self.value(), value)
        except InvalidArgumentError:
            if context.device or context.trace is not None:
                raise
            other, here = getattr(value, "raw", value), array_of(self).devices()
            elsewhere = isinstance(other, jax.Array) and other.committed and other.devices() != here
            if not elsewhere or len(here) > 1:
                raise
        with device_scope(self.device):
            return operation(self.value(), value)

    if not TYPE_CHECKING:
        __iadd__ = _refused_in_place("+", "assign_add(value)")
        __isub__ = _refused_in_place("-", "assign_sub(value)")
        __imul__ = _refused_in_place("*")
        __itruediv__ = _refused_in_place("/")
        __ifloordiv__ = _refused_in_place("//")
        __imod__ = _refused_in_place("%")
        __ipow__ = _refused_in_place("**")
        __imatmul__ = _refused_in_place("@")
        __iand__ = _refused_in_place("&")
        __ior__ = _refused_in_place("|")
        __ixor__ = _refused_in_place("^")
        __ilshift__ = _refused_in_place("<<")
        __irshift__ = _refused_in_place(">>")

    def __setitem__(self, index: Any, value: ArrayLike) -> None:
        """Assigns items: ``v[index] = value`` is ``v.assign(v.value().at[index].set(value))``.

        Index and value work as for :class:`Tensor`.

        Example:
          >>> import graphc as gx
          >>> v = gx.Variable([1.0, 2.0])
          >>> v[0] = 5.0
          >>> v.numpy()
          array([5., 2.], dtype=float32)
        """
        self._updated(lambda: FUNCTIONS["update_item"](self, index, value))

    def _seen(self) -> Tensor:
        """Returns the value for display: refused while a function is traced, and not recorded by tapes."""
        return self.value() if context.trace is not None else Tensor(array_of(self))

    def __bool__(self) -> bool:
        return bool(self._seen())

    def __int__(self) -> int:
        return int(self._seen())

    def __float__(self) -> float:
        return float(self._seen())

    def __complex__(self) -> complex:
        return complex(self._seen())

    def __index__(self) -> int:
        return operator.index(self._seen())

    def item(self) -> Any:
        """Returns the one element as a Python number; see :meth:`Tensor.item`."""
        return self._seen().item()

    def copy(self) -> Tensor:
        """Returns the current value as a tensor, which later assignments do not change."""
        return self.value()

    def _stored(self, raw: Any) -> jax.Array:
        """Returns an array as the variable stores it: of its type, on its device, not in memory of the user."""
        if not isinstance(raw, jax.Array):
            raw = new_array(raw, self._type.dtype)
        elif type_of(raw) != self._type:
            raw = jnp.asarray(raw, self._type.dtype)
        here = array_of(self).sharding
        return raw if raw.sharding is here or raw.sharding == here else placed(raw, here)

    def _check(self, value: Any) -> Any:
        if type(value) is int:
            value = _number(value, self._type.dtype, f"assign to Variable {self.name!r}")
        assigned = value.type if isinstance(value, ArrayMethods) else type_of(value)
        if assigned == self._type:
            return value
        if assigned.shape != self._type.shape:
            raise InvalidArgumentError(
                f"assign to Variable {self.name!r}: shape {assigned.shape} given, shape {self._type.shape} expected; "
                "a variable keeps its shape"
            ).here()
        weak = assigned.weak or isinstance(value, bool | int | float | complex)
        fits = (
            np.can_cast(assigned.dtype, self._type.dtype, "same_kind") if weak else assigned.dtype == self._type.dtype
        )
        if not fits:
            raise InvalidTypeError(
                f"assign to Variable {self.name!r}: dtype {assigned.dtype.name} given, dtype {self._type.dtype.name} "
                f"expected; convert with gx.astype(value, {self._type.dtype.name!r})"
            ).here()
        return value

    def _leave(self, use: str) -> None:
        check_leaves(self, use)
        if context.trace is not None:
            self.value()._leave(use)  # pyright: ignore[reportPrivateUsage]  a family's own

    @when_jax_converts
    def __jax_array__(self) -> jax.Array:
        self._leave("conversion to a jax.Array")
        return array_of(self)

    def __reduce__(self) -> Any:
        return _restored, (self.numpy(), self.trainable, self.name)

    def __repr__(self) -> str:
        if config.tensor_text == "tensorflow" and context.trace is None:
            return variable_representation(self.name, host_values(array_of(self)), self.dtype.name)
        text = f"Variable(name={self.name!r}, shape={self.shape}, dtype={self.dtype.name}"
        if context.trace is not None:
            return f"{text})"
        array = array_of(self)
        text += ", value="
        if is_elsewhere(array) or not self.shape:
            return f"{text}{array if is_elsewhere(array) else str(host_values(array))})"
        return f"{text}{np.array2string(host_values(array), prefix=text)})"


def _operand(value: Any, use: str) -> Any:
    try:
        return operand(value)
    except InvalidArgumentError as error:
        error.args = (f"{use}: {error.args[0]}",)
        raise error.here() from None


def _number(value: int, dtype: np.dtype[Any], use: str) -> Any:
    """Returns a Python int as a number for a variable's dtype; unchanged if a weak integer can hold it."""
    if not has_large_ints((value,)):
        return value
    try:
        return fitted_int(value, dtype)
    except InvalidArgumentError as error:
        error.args = (f"{use}: {error.args[0]}",)
        raise error.here() from None


def _raw(value: Any) -> Any:
    if isinstance(value, SymbolicTensor):
        raise value.trace.leaked(value)
    return value.raw if isinstance(value, Tensor) else value


def _restored(value: np.ndarray[Any, Any], trainable: bool, name: str) -> Variable:
    """Returns a copied or unpickled variable under a new name, since programs identify variables by name."""
    return Variable(value, trainable=trainable, name=name)


@operand.register(Variable)
def _from_variable(value: Variable) -> Tensor:
    return value.value()


def read(value: Any) -> Any:
    """Returns the value of a variable while a function is traced; anything else as it is."""
    return value.value() if isinstance(value, Variable) and context.trace is not None else value


def is_symbolic(value: Any) -> bool:
    """Returns True if the value is a tensor without values, or reading it would give one."""
    return isinstance(value, SymbolicTensor) or (isinstance(value, Variable) and context.trace is not None)


HOLDERS.add(Variable)
