"""Device specs: the devices that nodes are pinned to, in TensorFlow's notation."""

from __future__ import annotations

import dataclasses
import operator
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from graphc.compiler.base import errors

_FORMS: Final = (
    'write "/job:worker/replica:0/task:1/device:GPU:0" or a part of it, "/gpu:0", "cpu:1" or "tpu"; '
    '"*" leaves a number or the type open'
)
_PLAIN_TYPES: Final = frozenset({"cpu", "gpu", "tpu"})
_JOB: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_TYPE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A full or partial description of a device; fields that are None are left open.

    The names are those of ``tf.DeviceSpec``. Keywords and device types are case-insensitive, and types are stored in
    upper case. Job names are case-sensitive.

    Attributes:
      job: the name of the cluster's job.
      replica: the replica's index, from 0.
      task: the task's index in the job, from 0.
      device_type: ``CPU``, ``GPU``, ``TPU``.
      device_index: the index among the task's devices of that type, from 0.

    Raises:
      InvalidTypeError: a name is not a string, or a number not an int.
      InvalidArgumentError: a name is malformed, or a number is negative.

    Example:
      >>> str(DeviceSpec.parse("/gpu:0"))
      '/device:GPU:0'
      >>> str(DeviceSpec.parse("/job:ps/task:1").merge(DeviceSpec.parse("cpu")))
      '/job:ps/task:1/device:CPU:*'
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def __post_init__(self) -> None:
        for field in ("job", "device_type"):
            name = getattr(self, field)
            if name is not None and not isinstance(name, str):
                raise _wrong_type(f"{field} is {name!r}; expected a string or None")
        if self.job is not None and not _JOB.fullmatch(self.job):
            raise _malformed(f"{self.job!r} is not a job name: a letter, then letters, digits, '_', '.' and '-'")
        if self.device_type is not None:
            if not _TYPE.fullmatch(self.device_type):
                raise _malformed(f"{self.device_type!r} is not a device type such as 'GPU'")
            object.__setattr__(self, "device_type", self.device_type.upper())
        for field in ("replica", "task", "device_index"):
            number = getattr(self, field)
            if number is None:
                continue
            if isinstance(number, bool) or not hasattr(number, "__index__"):
                raise _wrong_type(f"{field} is {number!r}; expected an int or None")
            if number < 0:
                raise _malformed(f"{field} is {number}; expected at least 0")
            object.__setattr__(self, field, operator.index(number))

    @staticmethod
    def parse(text: str) -> DeviceSpec:
        """Returns the spec that a device string describes.

        Args:
          text: for example ``/job:worker/replica:0/task:1/device:GPU:0``, a part of it, ``/gpu:0`` or ``cpu:1``; empty
            for a spec that leaves everything open.

        Raises:
          InvalidArgumentError: the text is malformed; the message lists the forms.
          InvalidTypeError: the argument is not a string.
        """
        device: Any = text
        if not isinstance(device, str):
            raise _wrong_type(f"gx.DeviceSpec.parse: expected a string such as 'gpu:0', got {device!r:.60}")
        return _parse(text)

    def merge(self, inner: DeviceSpec) -> DeviceSpec:
        """Returns the spec of an object pinned to ``inner`` within a scope pinned to this one.

        ``inner`` takes precedence; this spec fills in what it leaves open. The index counts devices of this spec's
        type, and is therefore dropped if ``inner`` names another type.

        Raises:
          InvalidTypeError: ``inner`` is not a DeviceSpec.
        """
        spec: Any = inner
        if not isinstance(spec, DeviceSpec):
            message = "gx.DeviceSpec.merge: expected a gx.DeviceSpec (gx.DeviceSpec.parse makes one from a string), got"
            raise _wrong_type(f"{message} {spec!r:.60}")
        other_type = None not in (self.device_type, inner.device_type) and self.device_type != inner.device_type
        return DeviceSpec(
            self.job if inner.job is None else inner.job,
            self.replica if inner.replica is None else inner.replica,
            self.task if inner.task is None else inner.task,
            self.device_type if inner.device_type is None else inner.device_type,
            self.device_index if inner.device_index is None and not other_type else inner.device_index,
        )

    @property
    def is_complete(self) -> bool:
        """True if the spec names a single device of a task."""
        return self.device_type is not None and self.device_index is not None

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parses a spec; TensorFlow's name of :meth:`parse`."""
        return cls.parse(spec)

    def to_string(self) -> str:
        """Returns the spec as text; TensorFlow's name of ``str``."""
        return str(self)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Merges two specs; TensorFlow's name of :meth:`merge`."""
        return self.merge(dev)

    def replace(self, **fields: Any) -> DeviceSpec:
        """Returns a copy with some fields replaced.

        Example:
          >>> str(DeviceSpec.parse("/job:ps/task:1").replace(task=2))
          '/job:ps/task:2'
        """
        unknown = [name for name in fields if name not in self.__dataclass_fields__]
        if unknown:
            names = ", ".join(self.__dataclass_fields__)
            raise _malformed(f"a device spec has no field {unknown[0]!r}; the fields are {names}")
        return dataclasses.replace(self, **fields)

    def __str__(self) -> str:
        text = "".join(
            f"/{key}:{value}"
            for key, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        )
        if self.device_type is None and self.device_index is None:
            return text
        return f"{text}/device:{self.device_type or '*'}:{'*' if self.device_index is None else self.device_index}"


def _malformed(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(message).here()


def _wrong_type(message: str) -> errors.InvalidTypeError:
    return errors.InvalidTypeError(message).here()


@lru_cache(maxsize=4096)
def _parse(text: str) -> DeviceSpec:
    fields: dict[str, str | int | None] = {}
    for part in text.removeprefix("/").split("/") if text else ():
        parsed = _parse_part(part)
        if not parsed:
            raise _malformed(f"the device {text!r} has the part {part!r}; {_FORMS}")
        if not parsed.keys().isdisjoint(fields):
            raise _malformed(f"the device {text!r} sets {next(iter(parsed))} more than once; {_FORMS}")
        fields.update(parsed)
    return DeviceSpec(**fields)  # pyright: ignore[reportArgumentType]


def _parse_part(part: str) -> dict[str, str | int | None]:
    """Returns the fields that a part between slashes sets; none if it is malformed."""
    key, *words = part.split(":")
    key = key.lower()
    if key == "job" and len(words) == 1 and _JOB.fullmatch(words[0]):
        return {"job": words[0]}
    if key in ("replica", "task") and len(words) == 1 and _is_number(words[0]):
        return {key: _number(words[0])}
    if key in _PLAIN_TYPES:
        words = [key, *words]
    elif key != "device":
        return {}
    if not 1 <= len(words) <= 2 or not all(map(_is_number, words[1:])):
        return {}
    kind = words[0]
    if kind != "*" and not _TYPE.fullmatch(kind):
        return {}
    return {
        "device_type": None if kind == "*" else kind,
        "device_index": _number(words[1]) if len(words) == 2 else None,
    }


def _is_number(word: str) -> bool:
    return word == "*" or _NUMBER.fullmatch(word) is not None


def _number(word: str) -> int | None:
    return None if word == "*" else int(word)
