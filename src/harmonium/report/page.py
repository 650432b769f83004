"""A page in one file: a few words, a table, a picture, and what to do next. It needs no network."""

import base64
from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

STYLE = """
  :root { color-scheme: light dark; --page: #fff; --text: #1d2430; --quiet: #5b6575; --line: #d9dee6; --band: #f4f6f9; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #14181f; --text: #e4e8ee; --quiet: #9aa5b5; --line: #333b47; --band: #1c222b; } }
  body { margin: 0 auto; padding: 1.2rem; max-width: 58rem; background: var(--page); color: var(--text);
         font: 1rem/1.55 system-ui, sans-serif; }
  h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
  img { display: block; width: 100%; height: auto; border-radius: .4rem; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
  th, td { padding: .3rem 1.2rem .3rem 0; border-bottom: 1px solid var(--line); text-align: right; }
  th { color: var(--quiet); } th:first-child, td:first-child { text-align: left; }
  .wide, pre { overflow-x: auto; } pre { padding: .8rem; background: var(--band); border-radius: .4rem; }
"""


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

    def page(self, picture: bytes, about: str) -> str:
        """As HTML, with a picture (PNG) in it; ``about`` is what the picture shows, for those who do not see it."""
        head, *rows = ["".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in self._tagged()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        image = base64.b64encode(picture).decode()
        return "\n".join(
            [
                "<!doctype html>",
                f'<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<style>{STYLE}</style></head><body>",
                f"<h1>{escape(self.title)}</h1>",
                *(f"<p>{escape(paragraph)}</p>" for paragraph in self.paragraphs),
                f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>',
                *(f"<p>{escape(note)}</p>" for note in self.notes),
                f'<img src="data:image/png;base64,{image}" alt="{escape(about)}">',
                "<h2>What to try next</h2>",
                *(f"<p>{escape(reason)}:</p><pre>{escape(command)}</pre>" for reason, command in self.commands),
                "</body></html>\n",
            ]
        )

    def _tagged(self) -> list[tuple[str, Sequence[str]]]:
        return [("td" if i else "th", row) for i, row in enumerate(self.table)]


def _spaced(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs in lines of a width to read, each with an empty line after it."""
    return [line for paragraph in paragraphs for line in (*wrap(paragraph, 100), "")]
