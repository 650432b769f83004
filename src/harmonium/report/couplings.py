"""What holds columns together: the weights of hidden units, and the couplings of columns through them, by name."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm
from matplotlib.ticker import MaxNLocator

from harmonium.report.images import strongest
from harmonium.report.ink import SIGNS

Weights = Float[np.ndarray, "hidden values"]


class Pair(NamedTuple):
    """Two values of columns, and what couples them."""

    first: str
    second: str
    coupling: float


def effective(weights: Weights, variances: Float[np.ndarray, " hidden"]) -> Float[np.ndarray, "values values"]:
    """J_ab = Σ_j ⟨var(h_j | v)⟩ W_ja W_jb = ⟨-∂²F/∂v_a∂v_b⟩: what hidden units put between two columns."""
    found: np.ndarray = weights.T @ (variances[:, None] * weights)
    return found


def pairs(
    couplings: Float[np.ndarray, "values values"], names: Sequence[str], column: np.ndarray, n: int
) -> list[Pair]:
    """The ``n`` strongest couplings between values of different columns; ``column`` says which column a value is of."""
    size = np.abs(couplings) * (column[:, None] < column[None])
    order = np.argsort(-size, axis=None, kind="stable")[:n]
    chosen = [np.unravel_index(place, size.shape) for place in order]
    return [Pair(names[a], names[b], float(couplings[a, b])) for a, b in chosen if size[a, b] > 0]


def readings(weights: Weights, names: Sequence[str], n: int = 8, each: int = 4) -> list[tuple[int, str, str]]:
    """Of the ``n`` strongest hidden units: number, the values it raises most, and those it lowers most."""
    found = []
    for unit in strongest(weights, n).tolist():
        order = np.argsort(-weights[unit], kind="stable")
        up = [names[i] for i in order[:each] if weights[unit, i] > 0]
        down = [names[i] for i in order[::-1][:each] if weights[unit, i] < 0]
        found.append((unit, ", ".join(up), ", ".join(down)))
    return found


def draw(axes: Axes, weights: Weights, names: Sequence[str] | None, n: int = 40, n_columns: int = 30) -> None:
    """The weights of the strongest hidden units to the columns with the largest weights, as a heat map."""
    units = strongest(weights, n)
    columns = np.sort(strongest(weights.T, n_columns))
    shown = weights[units][:, columns].T
    norm = CenteredNorm(halfrange=float(np.quantile(np.abs(shown), 0.995)) or 1.0)
    image = axes.imshow(shown, SIGNS, norm, interpolation="none", aspect="auto")
    axes.set(xlabel="hidden units, the strongest first")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    labels = [str(c) for c in columns] if names is None else [shortened(names[c]) for c in columns]
    axes.set_yticks(range(len(columns)), labels, fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=40, label="weight", extend="both")


def shortened(name: str, most: int = 18) -> str:
    """A name that leaves room for the picture."""
    return name if len(name) <= most else name[: most - 1] + "…"
