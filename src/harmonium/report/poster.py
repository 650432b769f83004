"""One picture of a model of images: data, samples, filters, and the course of learning."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harmonium.report.course import History
from harmonium.report.images import Shape, draw_filters, draw_rows
from harmonium.report.ink import SECOND, STYLE

N_FILTERS = 70


def draw(
    data: np.ndarray,
    samples: np.ndarray,
    weights: np.ndarray,
    shape: Shape,
    history: History,
    levels: Mapping[str, float],
) -> Figure:
    """Four panels; ``levels`` are log-likelihoods by name, drawn as lines."""
    plain: Any = STYLE | {"font.size": 10, "axes.titlesize": 11, "figure.facecolor": "#ffffff"}
    with mpl.rc_context(plain):
        figure = Figure(figsize=(11, 8.8), layout="constrained")
        figure.get_layout_engine().set(rect=(0.01, 0.01, 0.98, 0.98))  # type: ignore[call-arg, union-attr]
        panels: Any = figure.subfigures(2, 2, hspace=0.02, wspace=0.04)
        top_left, top_right, left, right = (panel.subplots() for panel in np.ravel(panels))
        draw_rows(top_left, data, shape)
        top_left.set_title("Rows of the test set")
        draw_rows(top_right, samples, shape)
        top_right.set_title("Rows the model made up (not chosen)")
        draw_filters(left, weights, shape, N_FILTERS)
        left.set_title(f"Weights of {min(N_FILTERS, len(weights))} of {len(weights)} hidden units")
        _draw_course(right, history, levels)
    return figure


def _draw_course(axes: Axes, history: History, levels: Mapping[str, float]) -> None:
    """The log-likelihood of rows held out, in the course of a run, between the levels of other models."""
    axes.plot(history["step"], history["validation_log_likelihood"], ".-")
    axes.set(title="Rows held out, in the course of learning", xlabel="update", ylabel="log-likelihood, nats a row")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.set_xlim(left=0)
    for name, level in levels.items():
        axes.axhline(level, color=SECOND, linestyle="--", linewidth=1)
        side, shift = ("bottom", 3) if level == min(levels.values()) else ("top", -4)
        text = f"{name}: {level:.2f}".replace("-", "−")
        place: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate(text, (0.99, level), (0, shift), ha="right", va=side, color=SECOND, **place)
