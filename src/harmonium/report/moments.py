"""Moments of the model against those of the data: means of columns, and covariances of pairs of columns."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real
from matplotlib.axes import Axes

from harmonium.report.ink import FIRST

PAIRS = 4000
"""Pairs drawn, chosen by chance where there are more."""
WIDE = 2000
"""Columns from which on not all pairs are looked at."""

Points = Float[np.ndarray, " _"]


class Moments(NamedTuple):
    """The same moments of data and model; ``noise`` is the root mean square that chance alone would put between them.

    ``noise`` is from the halves of the data, and counts the model's draws as independent: it is rather too small.
    """

    data: Points
    model: Points
    noise: float

    @property
    def distance(self) -> float:
        """The root mean square difference."""
        return float(np.sqrt(np.mean((self.data - self.model) ** 2)))

    @property
    def correlation(self) -> float:
        """Of the moments of the model with those of the data; NaN where either are all equal."""
        if min(np.ptp(self.data), np.ptp(self.model)) == 0:
            return float("nan")
        return float(np.corrcoef(self.data, self.model)[0, 1])


def compare(
    data: Real[np.ndarray, "rows columns"], model: Real[np.ndarray, "draws columns"]
) -> tuple[Moments, Moments]:
    """Means, and covariances of pairs, of data and model."""
    rows, draws = np.asarray(data, np.float64), np.asarray(model, np.float64)
    pairs = _pairs(rows.shape[1])
    # Two disjoint halves of n rows differ by √(2/(n/2)) = 2/√n deviations, data and draws by √(1/n + 1/m).
    to_noise = np.sqrt(1 / len(rows) + 1 / len(draws)) / (2 / np.sqrt(len(rows)))
    halves = rows[::2], rows[1::2]

    def moments(of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = of.mean(axis=0)
        return mean, _covariances(of - mean, pairs)

    found = []
    for ours, theirs, *split in zip(moments(rows), moments(draws), *map(moments, halves), strict=True):
        noise = float(np.sqrt(np.mean((split[0] - split[1]) ** 2))) * to_noise
        found.append(Moments(ours, theirs, noise))
    return found[0], found[1]


def draw(axes: Axes, moments: Moments, what: str) -> None:
    """A point a moment; on the line they agree."""
    both = np.concatenate([moments.data, moments.model])
    low, high = (float(both.min()), float(both.max())) if len(both) else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.5
    axes.plot(
        [low - pad, high + pad], [low - pad, high + pad], color=axes.spines["left"].get_edgecolor(), linewidth=0.8
    )
    axes.scatter(moments.data, moments.model, s=6, color=FIRST, alpha=0.45, linewidths=0, rasterized=True)
    axes.set(
        xlabel=f"{what}, data", ylabel=f"{what}, model", xlim=(low - pad, high + pad), ylim=(low - pad, high + pad)
    )
    axes.set_aspect("equal")
    axes.locator_params(nbins=4)


def _covariances(centred: np.ndarray, pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    if centred.shape[1] < WIDE:
        covariances: np.ndarray = (centred.T @ centred)[pairs] / len(centred)
        return covariances
    return np.array([np.mean(centred[:, i] * centred[:, j]) for i, j in zip(*pairs, strict=True)])


def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of different columns, or ``PAIRS`` of them."""
    first, second = np.triu_indices(n, 1) if n < WIDE else np.random.default_rng(0).integers(0, n, (2, PAIRS))
    if len(first) > PAIRS:
        chosen = np.sort(np.random.default_rng(0).choice(len(first), PAIRS, replace=False))
        first, second = first[chosen], second[chosen]
    different = first != second
    return first[different], second[different]
