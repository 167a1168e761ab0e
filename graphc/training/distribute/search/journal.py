"""Journal: the finished trials of a search, as lines of a file, so that the search can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError
from graphc.compiler.base.files import PathLike, as_path, file_errors
from graphc.training.distribute.search.result import Trial
from graphc.training.distribute.search.space import Config

__all__ = ["Journal"]

_KEPT = ("number", "config", "status", "values", "metrics", "device", "seconds", "error")
_START = f'{{"{_KEPT[0]}": '
"""Prefix of each line."""


class Journal:
    """A file with one JSON object per line, for each finished trial.

    Args:
      path: the file; it need not exist.
      configurations: the configurations of the search.

    Raises:
      InvalidTypeError: a configuration cannot be written as JSON.
    """

    def __init__(self, path: PathLike, configurations: Sequence[Config]) -> None:
        self.path: Path = as_path(path)
        try:
            self._texts = [json.dumps(config) for config in configurations]
        except (TypeError, ValueError) as error:
            problem = InvalidTypeError(
                f"search: file= keeps configurations as JSON, which cannot hold this one: {error}; choose among "
                "numbers and names, and look up by them what they stand for"
            )
            raise at(problem, user_location()) from None

    def read(self) -> list[Trial]:
        """Returns the trials that earlier runs finished, without failed ones, in the order in which they finished.

        Raises:
          FailedPreconditionError: the file is of another search.
        """
        found: list[Trial] = []
        with file_errors(self.path):
            text = self.path.read_bytes().decode() if self.path.exists() else ""
        whole, torn = text[: text.rfind("\n") + 1], text[text.rfind("\n") + 1 :]
        is_torn = _START.startswith(torn[: len(_START)])  # the process ended while writing; else it is not a journal
        for number, line in enumerate((whole if is_torn else text).splitlines()):
            try:
                kept: dict[str, Any] = json.loads(line)
                trial = Trial(**{name: kept[name] for name in _KEPT})
            except (ValueError, KeyError, TypeError):
                trial = None
            if trial is None or self._texts[trial.number : trial.number + 1] != [json.dumps(trial.config)]:
                error = FailedPreconditionError(
                    f"search: line {number + 1} of {self.path} is not a trial of this search; it must have the same "
                    "space, trials and seed. Use another file"
                )
                raise at(error, user_location())
            if trial.status != "failed":
                found.append(trial)
        if torn:
            with file_errors(self.path):
                os.truncate(self.path, len(whole.encode()))  # so that the next trial begins a line
        return found

    def write(self, trial: Trial) -> None:
        """Adds a finished trial."""
        with file_errors(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({name: getattr(trial, name) for name in _KEPT}) + "\n")
