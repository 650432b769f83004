"""A few words, a table, and what to do next, as text that reads well as it stands."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple


class Summary(NamedTuple):
    """What is said of a model: paragraphs, a table whose first row is its head, and commands to try, with reasons."""

    title: str
    paragraphs: Sequence[str]
    table: Sequence[Sequence[str]]
    notes: Sequence[str]
    commands: Sequence[tuple[str, str]]

    def text(self) -> str:
        """As Markdown that reads well as it stands."""
        head, *rows = self.aligned()
        rule = "-|-".join("-" * len(cell) for cell in head.split(" | "))
        lines = [f"# {self.title}", "", *_spaced(self.paragraphs), head, rule, *rows, "", *_spaced(self.notes)]
        lines += ["## What to try next", ""]
        for reason, command in self.commands:
            lines += [f"{reason}:", "", *(f"    {line}" for line in command.splitlines()), ""]
        return "\n".join(lines)

    def aligned(self) -> list[str]:
        """The table in lines: names to the left, numbers to the right."""
        widths = [max(map(len, cells)) for cells in zip(*self.table, strict=True)]
        return [
            " | ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            for row in self.table
        ]


def _spaced(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs in lines of a width to read, each with an empty line after it."""
    return [line for paragraph in paragraphs for line in (*wrap(paragraph, 100), "")]
