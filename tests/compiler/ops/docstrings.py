"""The parts of a docstring in Google's style."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Docstring"]

_SECTION = re.compile(r"^(Args|Returns|Raises|Example|Source):(.*)$")


@dataclass(frozen=True)
class Docstring:
    """What a docstring says.

    Attributes:
      summary: its first sentence or paragraph.
      body: what follows, up to the first section.
      parameters: what is said of each parameter.
      returns: what is returned, where that is said.
      example: the doctest.
    """

    summary: str
    body: str
    parameters: dict[str, str]
    returns: str
    example: str

    @staticmethod
    def parse(text: str) -> Docstring:
        """Reads a docstring whose indentation is cleaned."""
        sections: dict[str, list[str]] = {"": []}
        current = sections[""]
        for line in text.splitlines():
            if heading := _SECTION.match(line):
                current = sections.setdefault(heading[1], [])
            else:
                current.append(line)
        summary, _, body = "\n".join(sections[""]).strip().partition("\n\n")
        return Docstring(
            " ".join(summary.split()),
            body.strip(),
            _items(sections.get("Args", [])),
            " ".join(" ".join(sections.get("Returns", [])).split()),
            "\n".join(line[2:] for line in sections.get("Example", [])).strip(),
        )


def _items(lines: list[str]) -> dict[str, str]:
    """The lines of a section as items; what is indented further goes on with one."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if start := re.match(r"  (\*{0,2}\w+): (.*)", line):
            name = start[1]
            found[name] = start[2]
        elif line.strip():
            found[name] += " " + line.strip()
    return found
