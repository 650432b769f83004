"""Which unit type stands for the columns of a table, and how rows become its values."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.data import Codes, Encoding, Plain, Rows, Standardised, Summary
from harmonium.data.faults import place
from harmonium.errors import ArgumentError
from harmonium.units import Bernoulli, Binomial, Categorical, Gaussian, Spin, Unit

TYPES: dict[str, Callable[..., Unit]] = {
    "bernoulli": Bernoulli,
    "spin": Spin,
    "categorical": Categorical,
    "binomial": Binomial,
    "gaussian": Gaussian,
}
WANTED = {
    "bernoulli": "values in [0, 1]; fractions are read as probabilities",
    "spin": "values of -1 or 1",
    "categorical": "whole numbers from 0, the states of each column",
    "binomial": "whole numbers from 0, counts out of the largest",
    "gaussian": "finite numbers",
}

DOMAINS = {
    "bernoulli": (0.0, 1.0),
    "spin": (-1.0, 1.0),
    "categorical": (0.0, np.inf),
    "binomial": (0.0, np.inf),
    "gaussian": (-np.inf, np.inf),
}


class Visible(NamedTuple):
    """The layer a run starts with, how rows become its values, and their mean over the data."""

    unit: Unit
    encoding: Encoding
    mean: Float[Array, "n *k"]
    constant: tuple[int, ...]


def choose(kind: str, rows: Rows) -> str:
    """The type that ``auto`` stands for: Bernoulli where all values lie in [0, 1], else Gaussian."""
    if kind != "auto":
        return kind
    summary = rows.summary()
    return "bernoulli" if summary.minimum.min() >= 0 and summary.maximum.max() <= 1 else "gaussian"


def layer(kind: str, rows: Rows, summary: Summary, n_rows: float, name: str = "X") -> Visible:
    """The layer for a table: units with the means of its columns, and one neutral row's worth of doubt."""
    require_domain(kind, rows, name)
    dtype = rows.dtype
    constant = tuple(np.flatnonzero(summary.variance == 0).tolist())
    doubt = 1 / (1 + n_rows)
    if kind == "gaussian":
        scale = np.where(summary.variance > 0, np.sqrt(summary.variance), 1.0)
        encoding: Encoding = Standardised(jnp.asarray(summary.mean, dtype), jnp.asarray(scale, dtype))
        return Visible(Gaussian(rows.n_columns), encoding, jnp.zeros(rows.n_columns, dtype), constant)
    if kind == "categorical":
        n_states = max(int(rows.summary().maximum.max()) + 1, 2)
        encoding = Codes(n_states)
        mean = jnp.asarray(_shares(rows, n_states), dtype)
        unit = TYPES[kind]((rows.n_columns, n_states))
    else:
        mean = jnp.asarray(summary.mean, dtype)
        encoding = Plain()
        most = int(rows.summary().maximum.max())
        unit = TYPES[kind](rows.n_columns, *([max(most, 1)] * (kind == "binomial")))
    return Visible(_first(unit, mean, jnp.asarray(doubt, dtype)), encoding, mean, constant)


def require_domain(kind: str, rows: Rows, name: str = "X", n_states: int | None = None) -> None:
    """Raise ``ArgumentError`` unless all values are such as the unit type can take, naming the first that is not.

    ``n_states`` is the number of states, or of values of a count, if it is settled already.
    """
    summary = rows.summary()
    low, high = DOMAINS[kind]
    bad = (summary.minimum < low) | (summary.maximum > high)
    if kind not in ("gaussian", "bernoulli"):
        bad |= ~summary.all_integer
    if kind == "spin":  # a zero among values of ±1 lowers their mean square by 1/n
        bad |= summary.variance + summary.mean**2 < 1 - 0.5 / rows.n_rows
    if n_states is not None:
        bad |= summary.maximum >= n_states
    if not bad.any():
        return
    column = int(np.flatnonzero(bad)[0])
    for row in range(rows.n_rows):
        value = float(rows.take(np.array([row]))[0, column])
        whole = kind in ("gaussian", "bernoulli") or value == round(value)
        fits = low <= value <= high and whole and not (kind == "spin" and value == 0)
        if not fits or (n_states is not None and value >= n_states):
            break
    wanted = WANTED[kind] if n_states is None else f"{WANTED[kind]}, below {n_states}"
    raise ArgumentError(name, f"{value:g} at {place(row, column, rows.column_names)}", f"{wanted} ({kind} units)")


def require_fitting(unit: Unit, rows: Rows, name: str = "X") -> None:
    """Raise ``ArgumentError`` unless rows have values that the units of a fitted model can take."""
    kinds = {made: kind for kind, made in TYPES.items()}
    states = unit.states()
    count = len(states) if isinstance(unit, Categorical | Binomial) and states is not None else None
    if type(unit) in kinds:
        require_domain(kinds[type(unit)], rows, name, count)


def _shares(rows: Rows, n_states: int) -> np.ndarray:
    """How often each state stands in each column."""
    counts = np.zeros((rows.n_columns, n_states))
    for start in range(0, rows.n_rows, 4096):
        codes = rows.take(np.arange(start, min(start + 4096, rows.n_rows))).astype(int)
        for state in range(n_states):
            counts[:, state] += (codes == state).sum(axis=0)
    return counts / rows.n_rows


@eqx.filter_jit
def _first(unit: Unit, mean: Array, doubt: Array) -> Unit:
    """The units with the doubted mean."""
    return unit.with_mean(doubted(unit, mean, doubt))


def doubted(unit: Unit, mean: Array, doubt: Array | float) -> Array:
    """The mean after one more row, from the neutral layer: off the ends of the domain."""
    neutral = unit.neutral()
    return (1 - doubt) * mean + doubt * neutral.mean(jnp.zeros_like(mean))
