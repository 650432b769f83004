"""What a fitted model is worth on some rows: its log-likelihood beside that of columns that ignore each other."""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.data import read
from harmonium.estimators.encoded import Encoded, over_rows
from harmonium.estimators.fitting import split
from harmonium.estimators.visible import doubted
from harmonium.likelihood.interval import Interval


class Evaluation(NamedTuple):
    """Means over rows, in nats: how likely the model finds them, and how sure that is.

    The interval ``log_likelihood`` comes of what is not known of log Z; ``error`` is the standard error that comes of
    these rows being a sample. ``independent`` is None for a model that has not seen data.
    """

    n_rows: int
    log_likelihood: Interval
    error: float
    independent: float | None
    log_partition: Interval

    @property
    def verdict(self) -> str:
        """Whether to believe it."""
        return self.log_likelihood.verdict

    @property
    def reason(self) -> str:
        """Why not, if not."""
        return self.log_likelihood.reason


def account(estimator: Any, X: Any) -> Evaluation:
    """The log-likelihood of rows, with the log Z that the model has."""
    minus_energies = -estimator.free_energy(X)
    n = len(minus_energies)
    error = float(np.std(minus_energies, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    alone = independent(estimator, X)
    z = estimator.log_partition_
    mean = float(np.mean(minus_energies))
    return Evaluation(n, z.taken_from(mean), error, None if alone is None else float(np.mean(alone)), z)


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
    return split(n_rows, estimator.validation_fraction, estimator._random)


@eqx.filter_jit
def _alone(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    unit = model.machine.layers[0]
    return -unit.energy(model.encoding.values(rows)) - jnp.sum(unit.cgf(jnp.zeros_like(unit.bias)))
