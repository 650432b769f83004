"""A page in one file, from parts: it needs no network and no other file, and follows the reader's light or dark."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from matplotlib.figure import Figure

from harmonium.report.ink import svg
from harmonium.report.verdicts import Verdict

MINUS = str.maketrans("-", "−")


def page(title: str, parts: Iterable[str]) -> str:
    """The parts, which are HTML, as a whole page."""
    frame = files("harmonium.report").joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(title=escape(title), body="\n".join(part for part in parts if part))


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, *, quiet: bool = False) -> str:
    """A paragraph, if it says anything."""
    tag = '<p class="quiet">' if quiet else "<p>"
    return f"{tag}{escape(text)}</p>" if text else ""


def facts(known: Mapping[str, str]) -> str:
    """Names and what they stand for."""
    return f"<dl>{''.join(f'<dt>{escape(k)}</dt><dd>{escape(v)}</dd>' for k, v in known.items())}</dl>"


def verdicts(said: Sequence[Verdict]) -> str:
    """Verdicts, one a line."""
    kinds = {True: "good", False: "bad", None: "so"}
    lines = "".join(f'<li class="{kinds[one.good]}">{escape(one.words)}</li>' for one in said)
    return f'<ul class="verdicts">{lines}</ul>' if lines else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """A table, the last ``numbers`` columns of which are numbers."""
    body = "".join(_row(cells, "td", numbers) for cells in rows)
    return f'<div class="wide"><table><thead>{_row(head, "th", numbers)}</thead><tbody>{body}</tbody></table></div>'


def grouped(head: Sequence[str], groups: Iterable[tuple[str, Iterable[Sequence[str]]]]) -> str:
    """A table in groups, each with a heading; all columns but the first are numbers."""
    n = len(head)
    body = ""
    for name, rows in groups:
        body += f'<tr><th class="group" colspan="{n}">{escape(name)}</th></tr>'
        body += "".join(_row(cells, "td", n - 1) for cells in rows)
    return f'<div class="wide"><table><thead>{_row(head, "th", n - 1)}</thead><tbody>{body}</tbody></table></div>'


def _row(cells: Sequence[str], tag: str, numbers: int) -> str:
    kinds = [' class="number"' * (i >= len(cells) - numbers) for i in range(len(cells))]
    tagged = (f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
    return f"<tr>{''.join(tagged)}</tr>"


def figure(drawn: Figure, title: str, about: str) -> str:
    """A figure, with its title and a sentence about what it shows."""
    caption = f"<figcaption><b>{escape(title)}</b>{escape(about)}</figcaption>"
    return f"<figure>{caption}{svg(drawn, f'{title}. {about}')}</figure>"


def figures(made: Sequence[str]) -> str:
    """Figures beside each other, as many as there is room for."""
    return f'<div class="figures">{"".join(made)}</div>' if made else ""


def code(what: str, lines: str) -> str:
    """Something to type, and what it does."""
    return f"{paragraph(what)}<pre>{escape(lines)}</pre>"


def number(value: float, digits: int = 2) -> str:
    """A number with a minus sign that is one."""
    return f"{value:,.{digits}f}".translate(MINUS)
