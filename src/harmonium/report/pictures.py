"""Figures: filters, rows as images, the course of a run. Each function returns a figure, and keeps no state."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm, Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure, SubFigure

from harmonium.errors import ArgumentError

INK, SIGNED = "#24425f", "#b3541e"
SHADES = LinearSegmentedColormap.from_list("ink", ["#fbfaf7", INK])
SIGNS = LinearSegmentedColormap.from_list("signs", [SIGNED, "#f7f6f3", INK])
GAP = "#c9ced6"
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "savefig.facecolor": "#ffffff",
    "figure.facecolor": "#ffffff",
}

Shape = tuple[int, int]
Panel = Figure | SubFigure
Rows = Real[np.ndarray, "_ columns"]


def filters(weights: Rows, shape: Shape, n: int = 40) -> Figure:
    """The weights of the ``n`` hidden units whose weights are largest, as images; ``weights`` is hidden × columns."""
    figure = _figure(6, 4)
    draw_filters(figure, weights, shape, n)
    return figure


def rows_as_images(rows: Rows, shape: Shape, title: str = "") -> Figure:
    """Rows as images, light for the least value and dark for the largest."""
    figure = _figure(6, 4)
    draw_rows(figure, rows, shape, title)
    return figure


def history(found: Mapping[str, Sequence[int | float]]) -> Figure:
    """What the monitors found in the course of a run, one panel for each."""
    names = [name for name in found if name not in ("step", "epoch")]
    figure = _figure(6, 2.6 * max(1, len(names)))
    for axes, name in zip(np.ravel(figure.subplots(len(names), squeeze=False)) if names else (), names, strict=True):
        axes.plot(found["step"], found[name], ".-", color=INK)
        axes.set(xlabel="update", ylabel=name.replace("_", " "))
    return figure


def demo(
    data: Rows,
    samples: Rows,
    weights: Rows,
    shape: Shape,
    found: Mapping[str, Sequence[int | float]],
    levels: Mapping[str, float],
) -> Figure:
    """Data, samples, filters and the course of the run; ``levels`` are log-likelihoods by name, drawn as lines."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 8.8), layout="constrained")
        figure.get_layout_engine().set(rect=(0.01, 0.01, 0.98, 0.98))  # type: ignore[call-arg, union-attr]
        panels: Any = figure.subfigures(2, 2, hspace=0.02, wspace=0.04)
        top_left, top_right, left, right = np.ravel(panels)
        draw_rows(top_left, data, shape, "Rows of the test set")
        draw_rows(top_right, samples, shape, "Rows the model made up (not chosen)")
        draw_filters(left, weights, shape, 70)
        draw_course(right, found, levels)
    return figure


def draw_rows(panel: Panel, rows: Rows, shape: Shape, title: str = "") -> None:
    """Rows as a grid of images."""
    low, high = float(np.min(rows)), float(np.max(rows))
    _draw_grid(panel, rows, shape, SHADES, Normalize(low, high if high > low else low + 1), title)


def draw_filters(panel: Panel, weights: Rows, shape: Shape, n: int = 40) -> None:
    """The strongest filters as a grid of images on one scale, with a key to their colours."""
    strength = np.sum(np.square(weights), axis=1)
    chosen = weights[np.argsort(-strength, kind="stable")[:n]]
    norm = CenteredNorm(halfrange=float(np.quantile(np.abs(chosen), 0.995)) or 1.0)
    image = _draw_grid(panel, chosen, shape, SIGNS, norm, f"Weights of {len(chosen)} of {len(weights)} hidden units")
    panel.colorbar(
        image, ax=panel.axes, location="bottom", shrink=0.6, aspect=40, pad=0.02, label="weight", extend="both"
    )


def draw_course(panel: Panel, found: Mapping[str, Sequence[int | float]], levels: Mapping[str, float]) -> None:
    """The log-likelihood of rows held out, in the course of a run, between the levels of other models."""
    axes = panel.subplots()
    axes.plot(found["step"], found["validation_log_likelihood"], ".-", color=INK)
    axes.set(title="Rows held out, in the course of learning", xlabel="update", ylabel="log-likelihood, nats a row")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.set_xlim(left=0)
    for name, level in levels.items():
        axes.axhline(level, color=SIGNED, linestyle="--", linewidth=1)
        side, shift = ("bottom", 3) if level == min(levels.values()) else ("top", -4)
        text = f"{name}: {level:.2f}".replace("-", "−")
        place: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate(text, (0.99, level), (0, shift), ha="right", va=side, color=SIGNED, **place)


def tiled(rows: Rows, shape: Shape, n_across: int) -> Any:
    """Rows as images in one array, ``n_across`` side by side, with masked lines between and around them."""
    if rows.shape[1] != shape[0] * shape[1]:
        raise ArgumentError("shape", f"{shape}", f"height × width = {rows.shape[1]}, the number of columns")
    height, width = shape
    n_down = -(-len(rows) // n_across)
    room = (n_down * (height + 1) + 1, n_across * (width + 1) + 1)
    tiles: Any = np.ma.array(np.zeros(room), mask=True)  # matplotlib computes with what is masked, too
    for i, row in enumerate(np.asarray(rows, float)):
        y, x = divmod(i, n_across)
        tiles[y * (height + 1) + 1 : (y + 1) * (height + 1), x * (width + 1) + 1 : (x + 1) * (width + 1)] = row.reshape(
            shape
        )
    return tiles


def _figure(width: int | float, height: int | float) -> Figure:
    with mpl.rc_context(STYLE):
        return Figure(figsize=(width, height), layout="constrained")


def _draw_grid(panel: Panel, rows: Rows, shape: Shape, colours: Colormap, norm: Normalize, title: str) -> Any:
    axes: Axes = panel.subplots()
    across = max(1, round(np.sqrt(len(rows) * 1.45 * shape[0] / shape[1])))
    image = axes.imshow(tiled(rows, shape, across), colours.with_extremes(bad=GAP), norm, interpolation="nearest")
    axes.set(xticks=[], yticks=[], title=title)
    axes.spines[:].set_visible(False)
    return image
