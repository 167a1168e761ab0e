"""Templates: functions that make their Variables when they are first called, and share them from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.base import user_location
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.variables.scopes import VariableScope, variable_scope

__all__ = ["Template", "make_template"]


class Template:
    """A function whose Variables are shared by all its calls; made by :func:`make_template`."""

    def __init__(
        self, name: str, function: Callable[..., Any], create_scope_now: bool, unique_name: str | None,
        custom_getter: Any, arguments: dict[str, Any],
    ) -> None:  # fmt: skip
        self._name, self._function, self._unique_name = name, function, unique_name
        self._custom_getter, self._arguments = custom_getter, arguments
        self._made_at = user_location()
        self._scope: VariableScope | None = None
        self._graph = default_graph()
        self._called = False
        if create_scope_now:
            with self._entered():
                pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function in the scope of the template."""
        try:
            with self._entered():
                result = self._function(*args, **{**self._arguments, **kwargs})
        except Exception as error:
            error.add_note(f"in a call of the template {self._name!r}, made at {self._made_at}")
            raise
        self._called = True
        return result

    def _entered(self) -> Any:
        if self._scope is not None:
            return variable_scope(self._scope, reuse=True if self._called else None, custom_getter=None)
        return self._first()

    def _first(self) -> Any:
        opened = variable_scope(
            self._unique_name, default_name=self._name, custom_getter=self._custom_getter, auxiliary_name_scope=True
        )
        return _Noting(self, opened)

    def noted(self, scope: VariableScope) -> None:
        """Keeps the scope that the first call has opened."""
        self._scope, self._graph = scope, default_graph()

    @property
    def name(self) -> str:
        """The name that it was given."""
        return self._name

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its Variables; None before the first call."""
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the scope; None before the first call."""
        return None if self._scope is None else self._scope.name

    @property
    def variables(self) -> list[Any]:
        """Its Variables, global and local ones."""
        return [*self.global_variables, *self.local_variables]

    @property
    def global_variables(self) -> list[Any]:
        """Its global Variables."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Its local Variables."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[Any]:
        """Its Variables that optimizers change."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    def _collected(self, key: str) -> list[Any]:
        return [] if self._scope is None else self._graph.get_collection(key, f"{self._scope.name}/")


class _Noting:
    """The first opening of a template's scope."""

    def __init__(self, template: Template, opened: Any) -> None:
        self._template, self._opened = template, opened

    def __enter__(self) -> VariableScope:
        scope = self._opened.__enter__()
        self._template.noted(scope)
        return scope

    def __exit__(self, *details: Any) -> Any:
        return self._opened.__exit__(*details)


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False, unique_name_: str | None = None,
    custom_getter_: Any = None, **kwargs: Any,
) -> Template:  # fmt: skip
    """Returns a function whose calls share the Variables that its first call makes by ``get_variable``.

    Args:
      name_: the name of the scope, made unique.
      func_: the function.
      create_scope_now_: whether the scope gets its name now, and not at the first call.
      unique_name_: a name of the scope that is not made unique.
      custom_getter_: a function called instead of ``get_variable``, with it as its first argument.
      **kwargs: arguments that all calls are given.

    Raises:
      InvalidArgumentError: raised by the call, if a later call asks for a Variable that the first one did not make.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import make_template
      >>> def scaled(x):
      ...     return x * gx.get_variable("factor", [], initializer=lambda shape, dtype: gx.full(shape, 3.0))
      >>> with gx.Graph().as_default() as graph:
      ...     scale = make_template("scale", scaled)
      ...     y = scale(1.0) + scale(2.0)
      >>> [variable.name for variable in scale.variables]
      ['scale/factor:0']
    """
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_, kwargs)
