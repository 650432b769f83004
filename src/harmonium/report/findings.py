"""What a report is made from: plain values, that whoever knows the model hands over."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from harmonium.report.mixing import Traces

Table = Float[np.ndarray, "_ _"]


class LogZ(NamedTuple):
    """log Z as an interval in nats, how it was found, and what is to be thought of it."""

    estimate: float
    lower: float
    upper: float
    exact: bool
    verdict: str
    reason: str = ""


class Scores(NamedTuple):
    """The log-likelihood of each row of one part of the data, by the model and by plainer ones, by name."""

    part: str
    model: Float[np.ndarray, " _"]
    others: Mapping[str, Float[np.ndarray, " _"]]


class Findings(NamedTuple):
    """All that a report says.

    ``facts`` are what was fitted to what, by name. Values are those of the visible layer: columns of real numbers in
    standard deviations, columns of categories one value a state; ``names`` name them and ``columns`` number their
    columns. ``weights`` is hidden × values. ``shape`` is that of the rows as images, if they are. ``recipe`` is code
    and commands, each with what it is; so is ``further``, what to try next.
    """

    title: str
    facts: Mapping[str, str]
    scores: Sequence[Scores]
    log_z: LogZ | None
    notes: Sequence[str]
    history: Mapping[str, Sequence[int | float]]
    shape: tuple[int, int] | None
    names: Sequence[str]
    named: bool
    columns: np.ndarray
    weights: Table
    variances: Float[np.ndarray, " _"]
    data: Table | None
    draws: Table
    samples: Table
    traces: Traces
    recipe: Sequence[tuple[str, str]]
    further: Sequence[tuple[str, str]] = ()
