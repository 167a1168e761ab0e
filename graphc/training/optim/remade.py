"""Rules of optimizers told by numbers, made again of their names: another process knows them by these."""

from __future__ import annotations

import ast

from graphc.training.optim.by_name import class_of

__all__ = ["remade"]


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
        made = None if kind is None else kind(**options)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return None if made is None else made.transformation
