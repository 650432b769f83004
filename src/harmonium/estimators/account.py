"""What a fitted model is worth on some rows: its log-likelihood beside that of columns that ignore each other."""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.data import read
from harmonium.estimators import rbm
from harmonium.estimators.encoded import Encoded, over_rows
from harmonium.estimators.visible import doubted


class Account(NamedTuple):
    """Means over the rows, in nats; ``error`` is the standard error that comes of these rows being a sample."""

    n_rows: int
    log_likelihood: float
    error: float
    independent: float | None


def account(estimator: Any, X: Any) -> Account:
    """The log-likelihood of rows; ``independent`` is None for a model that has not seen data."""
    scores = estimator.score_samples(X)
    error = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else float("nan")
    alone = independent(estimator, X)
    return Account(len(scores), float(np.mean(scores)), error, None if alone is None else float(np.mean(alone)))


def independent(estimator: Any, X: Any) -> np.ndarray | None:
    """log p(x) of each row where the columns are independent, with the means of the rows that were learned from.

    These have, as at the start of learning, one neutral row's worth of doubt; real columns have also their variances.
    """
    model: Encoded = estimator._model
    if model.mean is None or estimator._n_rows == 0:
        return None
    with estimator._precision():
        unit = model.machine.layers[0].neutral()
        unit = unit.with_mean(doubted(unit, model.mean, 1 / (1 + estimator._n_rows)))
        alone = eqx.tree_at(lambda m: m.machine.layers[0], model, unit)
        return over_rows(_alone, alone, read(X, dtype=estimator.dtype)).astype(float) - model.log_volume


def held_out(estimator: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The places of the rows that ``fit`` learned from, and of those it held out, in a table of that length."""
    return rbm.split(n_rows, estimator.validation_fraction, estimator._random)


@eqx.filter_jit
def _alone(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    unit = model.machine.layers[0]
    return -unit.energy(model.encoding.values(rows)) - jnp.sum(unit.cgf(jnp.zeros_like(unit.bias)))
