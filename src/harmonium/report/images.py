"""Rows as images: data, samples, and the weights of hidden units."""

from typing import Any

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm, Colormap, Normalize

from harmonium.errors import ArgumentError
from harmonium.report.ink import SHADES, SIGNS

Shape = tuple[int, int]
Rows = Real[np.ndarray, "_ columns"]


def inferred(n_columns: int, binary: bool) -> Shape | None:
    """The shape of the images that rows seem to be: square ones, of at least 8 × 8, of values between 0 and 1."""
    side = round(n_columns**0.5)
    return (side, side) if binary and side >= 8 and side * side == n_columns else None


def require_shape(shape: Shape, n_columns: int) -> None:
    """Raise unless images of this shape have as many pixels as rows have columns."""
    if shape[0] * shape[1] != n_columns:
        raise ArgumentError("shape", f"{shape}", f"height × width = {n_columns}, the number of columns")


def draw_rows(axes: Axes, rows: Rows, shape: Shape, across: int | None = None) -> Any:
    """Rows as a grid of images: no ink for the least value, full ink for the largest."""
    low, high = float(np.min(rows)), float(np.max(rows))
    return _draw_grid(axes, rows, shape, SHADES, Normalize(low, high if high > low else low + 1), across)


def draw_filters(axes: Axes, weights: Rows, shape: Shape, n: int = 40, across: int | None = None) -> Any:
    """The ``n`` hidden units whose weights are largest, as images on one scale, with a key to their colours."""
    chosen = weights[strongest(weights, n)]
    norm = CenteredNorm(halfrange=float(np.quantile(np.abs(chosen), 0.995)) or 1.0)
    image = _draw_grid(axes, chosen, shape, SIGNS, norm, across)
    axes.figure.colorbar(
        image, ax=axes, location="bottom", shrink=0.7, aspect=40, pad=0.03, label="weight", extend="both"
    )
    return image


def strongest(weights: Rows, n: int) -> np.ndarray:
    """The places of the ``n`` rows whose squares sum to most, the strongest first."""
    return np.argsort(-np.sum(np.square(weights), axis=1), kind="stable")[:n]


def tiled(rows: Rows, shape: Shape, n_across: int) -> Any:
    """Rows as images in one array, ``n_across`` side by side, with masked lines between and around them."""
    require_shape(shape, rows.shape[1])
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


def _draw_grid(axes: Axes, rows: Rows, shape: Shape, colours: Colormap, norm: Normalize, across: int | None) -> Any:
    across = across or max(1, round(np.sqrt(len(rows) * 1.45 * shape[0] / shape[1])))
    image = axes.imshow(tiled(rows, shape, across), colours, norm, interpolation="none")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return image
