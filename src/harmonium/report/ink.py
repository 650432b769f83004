"""Figures that suit a light page and a dark one: their words and lines take the colours of the page they stand in."""

import io
import re
from html import escape
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure

Panel = Figure | SubFigure

FIRST, SECOND = "#4a8ad4", "#d9772b"
"""Colours of marks, readable on white and on near black."""

SHADES = LinearSegmentedColormap.from_list("ink", [FIRST + "00", FIRST + "ff"]).with_extremes(bad="#80808050")
SIGNS = LinearSegmentedColormap.from_list("signs", [(0, SECOND), (0.5, "#80808000"), (1, FIRST)]).with_extremes(
    bad="#80808050"
)

TEXT, QUIET = "#010203", "#040506"
"""Stand for the page's colours of text and of lines, until the figure is in the page."""

LINES = (
    "text.color",
    "axes.labelcolor",
    "axes.titlecolor",
    "xtick.labelcolor",
    "ytick.labelcolor",
    "legend.labelcolor",
)
FAINT = ("axes.edgecolor", "xtick.color", "ytick.color", "grid.color")
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=[FIRST, SECOND]),
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
WIDTH, HEIGHT = 3.5, 2.5
"""Inches: a figure fills the width of a phone, and its letters are then of the size of the text around it."""


def blank(height: float = HEIGHT) -> Figure:
    """An empty figure for a page."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def page_style() -> Any:
    """The context in which figures for a page are drawn."""
    return mpl.rc_context(STYLE | dict.fromkeys(LINES, TEXT) | dict.fromkeys(FAINT, QUIET))


def svg(figure: Figure, about: str) -> str:
    """A figure as an element of a page; ``about`` says what it shows to those who do not see it.

    The same figure gives the same text: no date, and names that follow from the content.
    """
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "harmonium"}):
        figure.savefig(file, format="svg", dpi=192, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[a-zA-Z]+[a-zA-Z0-9]*_\d+"', "", text)  # those of groups, which nothing refers to
    text = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg viewBox="\1" role="img" aria-label="{escape(about)}">', text
    )
    text = text.replace(TEXT, "var(--text)").replace(QUIET, "var(--quiet)")
    return re.sub(r"font: ([\d.]+px)[^;\"]*", r"font: \1 system-ui, sans-serif", text)
