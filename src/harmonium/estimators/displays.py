"""Plots of a fitted estimator, as scikit-learn has them: ``SomeDisplay.from_estimator(rbm)``, ``display.plot(ax)``."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.utils.validation import check_is_fitted

from harmonium.data import read
from harmonium.errors import ArgumentError
from harmonium.estimators import reporting
from harmonium.report import couplings, course, images, mixing, moments


class Display(ABC):
    """What to draw, kept; drawn on axes of the caller's, or new ones. After ``plot``: ``figure_`` and ``ax_``."""

    figure_: Figure
    ax_: Axes

    def plot(self, ax: Axes | None = None) -> "Display":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where; on a new figure if None.

        Returns
        -------
        self
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        self.draw(ax)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]
        return self

    @abstractmethod
    def draw(self, ax: Axes) -> None:
        """Put it on the axes."""


class HistoryDisplay(Display):
    """What a monitor found in the course of a run.

    >>> from harmonium import RBM, HistoryDisplay
    >>> rbm = RBM(2, n_updates=40, random_state=0).fit([[0, 1], [1, 0]] * 20)
    >>> display = HistoryDisplay.from_estimator(rbm, "reconstruction_error")
    >>> display.ax_.get_xlabel()
    'updates'
    """

    def __init__(self, history: course.History, name: str) -> None:
        self.history, self.name = history, name

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None, *, ax: Axes | None = None) -> "HistoryDisplay":
        """Of a fitted estimator, the monitor of this name; the first of ``history_`` if None."""
        check_is_fitted(estimator)
        known = course.panels(estimator.history_, idle=True)
        if not known or name not in (None, *estimator.history_):
            raise ArgumentError("name", f"{name!r}", f"one of {', '.join(known) or 'none: nothing was watched'}")
        made = cls(estimator.history_, name or known[0])
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """Against updates."""
        course.draw(ax, self.history, self.name)


class FiltersDisplay(Display):
    """The weights of the strongest hidden units, as images."""

    def __init__(self, weights: np.ndarray, shape: tuple[int, int], n: int = 40) -> None:
        self.weights, self.shape, self.n = weights, shape, n

    @classmethod
    def from_estimator(
        cls, estimator: Any, shape: tuple[int, int], *, n: int = 40, ax: Axes | None = None
    ) -> "FiltersDisplay":
        """Of a fitted estimator whose rows are images of this shape."""
        check_is_fitted(estimator)
        made = cls(np.asarray(estimator.components_), shape, n)
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """On one scale."""
        images.draw_filters(ax, self.weights, self.shape, self.n)


class SamplesDisplay(Display):
    """Rows of a model, or any rows, as images."""

    def __init__(self, rows: np.ndarray, shape: tuple[int, int]) -> None:
        self.rows, self.shape = rows, shape

    @classmethod
    def from_estimator(
        cls, estimator: Any, shape: tuple[int, int], *, n: int = 48, ax: Axes | None = None
    ) -> "SamplesDisplay":
        """Of a fitted estimator, ``n`` new rows."""
        made = cls(estimator.sample(n), shape)
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """Beside each other."""
        images.draw_rows(ax, self.rows, self.shape)


class WeightsDisplay(Display):
    """The strongest weights by the names of columns, as a heat map."""

    def __init__(self, weights: np.ndarray, names: list[str]) -> None:
        self.weights, self.names = weights, names

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> "WeightsDisplay":
        """Of a fitted estimator."""
        check_is_fitted(estimator)
        made = cls(reporting.weights(estimator._model), reporting.value_names(estimator)[0])
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """Columns down, hidden units across."""
        couplings.draw(ax, self.weights, self.names)


class MomentsDisplay(Display):
    """Moments of the model against those of data: ``what`` is "mean" or "covariance"."""

    def __init__(self, found: moments.Moments, what: str) -> None:
        self.found, self.what = found, what

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, what: str = "covariance", ax: Axes | None = None
    ) -> "MomentsDisplay":
        """Of a fitted estimator and rows."""
        check_is_fitted(estimator)
        if what not in ("mean", "covariance"):
            raise ArgumentError("what", f"{what!r}", "'mean' or 'covariance'")
        with estimator._precision():
            rows = read(X, dtype=estimator.dtype, n_columns=int(estimator.n_features_in_))
            data = reporting.some_values(estimator._model, rows)
            found = moments.compare(data, reporting.drawn(estimator._model)[0])
        made = cls(found[what == "covariance"], what)
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """On the line they agree."""
        moments.draw(ax, self.found, self.what)


class AutocorrelationDisplay(Display):
    """How long the free energy of the model's chains resembles what it was."""

    def __init__(self, traces: mixing.Traces) -> None:
        self.traces = traces

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> "AutocorrelationDisplay":
        """Of a fitted estimator."""
        check_is_fitted(estimator)
        with estimator._precision():
            made = cls(reporting.drawn(estimator._model)[1])
        made.plot(ax)
        return made

    def draw(self, ax: Axes) -> None:
        """Against sweeps."""
        mixing.draw_autocorrelation(ax, self.traces)
