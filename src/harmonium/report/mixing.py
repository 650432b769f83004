"""Whether chains mix: how long the free energy of a chain resembles what it was."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

SHOWN = 4
"""Chains drawn."""


class Traces(NamedTuple):
    """The free energy of chains, ``(chain, draw)``, with ``thin`` sweeps between two draws."""

    values: Float[np.ndarray, "chain draw"]
    thin: int

    @property
    def autocorrelation(self) -> Float[np.ndarray, " lags"]:
        """ρ at 0, 1, … draws, up to half of them, with the mean and the variance of all chains together.

        So chains that stay apart keep a correlation, though each of them may move within its own place.
        """
        centred = self.values - self.values.mean()
        n = centred.shape[1]
        variance = float(np.mean(centred**2))
        if variance == 0:
            return np.ones(n // 2)
        return np.array([np.mean(centred[:, : n - k] * centred[:, k:]) for k in range(n // 2)]) / variance

    @property
    def half_life(self) -> int | None:
        """Sweeps until the correlation is first below a half, to the next draw; None if it never is."""
        below = np.flatnonzero(self.autocorrelation < 0.5)
        return int(below[0]) * self.thin if len(below) else None

    @property
    def memory(self) -> float:
        """The correlation at the longest lag."""
        return float(self.autocorrelation[-1])


def draw_autocorrelation(axes: Axes, traces: Traces) -> None:
    """Autocorrelation against sweeps."""
    found = traces.autocorrelation
    axes.axhline(0, color=axes.spines["left"].get_edgecolor(), linewidth=0.8)
    axes.plot(np.arange(len(found)) * traces.thin, found)
    axes.set(xlabel="sweeps", ylabel="autocorrelation", ylim=(min(-0.1, float(found.min())), 1.05))


def draw_traces(axes: Axes, traces: Traces) -> None:
    """The first few chains."""
    sweeps = np.arange(traces.values.shape[1]) * traces.thin
    for i, chain in enumerate(traces.values[:SHOWN]):
        axes.plot(sweeps, chain, linewidth=0.9, color=f"C{i % 2}", alpha=1 - 0.4 * (i // 2))
    axes.set(xlabel="sweeps", ylabel="free energy, nats")
