"""What a report is made from: plain values, that whoever knows the model hands over."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from harmonium.likelihood.interval import Interval
from harmonium.report.mixing import Traces
from harmonium.sampling.diagnostics import Mixing

Table = Float[np.ndarray, "_ _"]


class Scores(NamedTuple):
    """The log-likelihood of each row of one part of the data, by the model and by plainer ones, by name."""

    part: str
    model: Float[np.ndarray, " _"]
    others: Mapping[str, Float[np.ndarray, " _"]]


class Findings(NamedTuple):
    """All that a report says.

    ``facts`` are what was fitted to what, by name. Values are those of the visible layer: columns of real numbers in
    standard deviations, columns of categories one value a state; ``names`` name them and ``columns`` number their
    columns. ``weights`` is hidden × values. ``shape`` is that of the rows as images, if they are. ``mixing`` holds, by
    name and in draws, how well some numbers mixed in which chains are slow. ``recipe`` is code and commands, each with
    what it is; so is ``further``, what to try next.
    """

    title: str
    facts: Mapping[str, str]
    scores: Sequence[Scores]
    log_z: Interval | None
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
    mixing: Mapping[str, Mixing]
    recipe: Sequence[tuple[str, str]]
    further: Sequence[tuple[str, str]] = ()
