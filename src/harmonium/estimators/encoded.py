"""A machine behind an encoding: what estimators ask of it, a block of rows at a time.

The machine's visible layer has values z, rows of the table are x = offset + scale·z (or codes, or z itself). Then

    log p(x) = -F(z) - log Z - Σ log scale.
"""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from harmonium import sampling
from harmonium.data import Encoding, Rows, Standardised
from harmonium.gauge import moved
from harmonium.likelihood import pseudo
from harmonium.likelihood.interval import Interval
from harmonium.likelihood.partition import log_partition
from harmonium.machine import Known, Machine, State
from harmonium.path import base_machine, between
from harmonium.sampling import gibbs
from harmonium.sampling.ladder import Ladder
from harmonium.units import Gaussian

BLOCK = 2**20
"""Values in a block of rows: 4 MiB in float32."""


class Encoded(eqx.Module):
    """A machine with one visible layer, the encoding in front of it, and the mean of that layer in the data."""

    machine: Machine
    encoding: Encoding
    mean: Float[Array, "..."] | None

    @property
    def plain(self) -> Machine:
        """The machine in the variables of the rows."""
        if not isinstance(self.encoding, Standardised):
            return self.machine
        return moved(self.machine, 0, self.encoding.offset, self.encoding.scale)

    @property
    def energy_shift(self) -> float:
        """The energy of the machine less that of ``plain``, which leaves out what is constant."""
        unit = self.machine.layers[0]
        if not isinstance(self.encoding, Standardised) or not isinstance(unit, Gaussian):
            return 0.0
        bias, precision = np.asarray(unit.bias, float), np.asarray(unit.precision, float)
        start = np.asarray(self.encoding.offset, float) / np.asarray(self.encoding.scale, float)
        return float(precision @ start**2 / 2 + bias @ start)

    @property
    def log_volume(self) -> float:
        """Σ log scale: what a density loses when its variables are stretched."""
        if not isinstance(self.encoding, Standardised):
            return 0.0
        return float(np.log(np.asarray(self.encoding.scale, float)).sum())

    def log_partition(self, key: Key[Array, ""], rows: Array | None = None, **how: Any) -> Interval:
        """log Z of the machine as it is encoded; chains on their way down start at ``rows``, if there are any."""
        chains = None if rows is None else (self.encoding.values(rows),)
        means = None if self.mean is None else (self.mean,)
        if means is None and chains is not None:
            means = (chains[0].mean(axis=0),)
        return log_partition(self.machine, key, means, chains=chains, **how)


@eqx.filter_jit
def free_energy(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    """F(z)."""
    return model.machine.free_energy(_known(model, rows))


@eqx.filter_jit
def hidden_means(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, "batch hidden"]:
    """⟨h⟩ given z."""
    return model.machine.layers[1].mean(model.machine.inputs_from_others(_known(model, rows), 1))


@eqx.filter_jit
def visible_means(model: Encoded, hidden: Float[Array, "batch hidden"]) -> Float[Array, "batch columns"]:
    """⟨z⟩ given h, as rows."""
    return model.encoding.rows(model.machine.layers[0].mean(model.machine.inputs_from_others((None, hidden), 0)))


@eqx.filter_jit
def log_pseudolikelihood(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    """Σᵢ log p(zᵢ | the others)."""
    return pseudo.log_pseudolikelihood(model.machine, (model.encoding.values(rows),))


@eqx.filter_jit
def reconstruction_error(model: Encoded, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    """The squared distance between z and its mean given the mean of h given z."""
    z = model.encoding.values(rows)
    hidden = model.machine.layers[1].mean(model.machine.inputs_from_others((z, None), 1))
    difference = z - model.machine.layers[0].mean(model.machine.inputs_from_others((None, hidden), 0))
    return jnp.sum(difference**2, axis=tuple(range(1, difference.ndim)))


@eqx.filter_jit
def swept(
    model: Encoded, rows: Float[Array, "batch columns"], key: Key[Array, ""], n_steps: Array
) -> Float[Array, "batch columns"]:
    """Rows after ``n_steps`` Gibbs sweeps, each h ~ p(h|z) then z ~ p(z|h)."""
    z = model.encoding.values(rows)
    hidden = model.machine.layers[1]
    state: State = (z, jnp.zeros((len(z), *hidden.shape), hidden.bias.dtype))

    def sweep(t: Array, state: State) -> State:
        return gibbs.step(jax.random.fold_in(key, t), model.machine, state, order=(1, 0))[0]

    return model.encoding.rows(jax.lax.fori_loop(0, n_steps, sweep, state)[0])


@eqx.filter_jit
def fantasies(model: Encoded, key: Key[Array, ""], n: int, n_steps: Array) -> Float[Array, "n columns"]:
    """Rows from the chains of ``grown``."""
    return model.encoding.rows(grown(model, key, n, n_steps)[0])


@eqx.filter_jit
def grown(model: Encoded, key: Key[Array, ""], n: int, n_steps: Array) -> State:
    """Chains that start without couplings, with the means of the data, and end at the machine itself.

    The couplings grow over the first half of the sweeps: started in the full machine, chains stay in the nearest mode.
    """
    base = base_machine(model.machine, None if model.mean is None else (model.mean,))
    first, key = jax.random.split(key)

    def sweep(t: Array, state: State) -> State:
        beta = jnp.minimum(1, 2 * (t + 1) / n_steps).astype(model.machine.layers[0].bias.dtype)
        return gibbs.step(jax.random.fold_in(key, t), between(base, model.machine, beta), state)[0]

    state: State = jax.lax.fori_loop(0, n_steps, sweep, gibbs.init(first, base, n))
    return state


def exchanged(model: Encoded, key: Key[Array, ""], ladder: Ladder, n: int, n_steps: int) -> Float[Array, "n columns"]:
    """Rows from chains that swap what they hold with those of other rungs; a step of exchange is two sweeps."""
    found = sampling.exchanged(model.machine, key, ladder, n, warm_up=n_steps // 2 - 1)
    return model.encoding.rows(found.draws[0][:, -1])


def over_rows(
    function: Callable[..., Array], model: eqx.Module, rows: Rows, key: Key[Array, ""] | None = None, *rest: Any
) -> np.ndarray:
    """A function of each row, block by block: blocks of few shapes, so that little is compiled."""
    parts = []
    for number, (block, n) in enumerate(_blocks(rows)):
        more = () if key is None else (jax.random.fold_in(key, number), *rest)
        parts.append(np.asarray(function(model, jnp.asarray(block), *more))[:n])
    return np.concatenate(parts)


def _blocks(rows: Rows) -> Iterator[tuple[np.ndarray, int]]:
    """Rows in blocks filled up to a power of two with copies of a row, and how many of each block are real."""
    most = max(1, 2 ** ((BLOCK // rows.n_columns).bit_length() - 1))
    for start in range(0, rows.n_rows, most):
        index = np.arange(start, min(start + most, rows.n_rows))
        size = 2 ** (len(index) - 1).bit_length()
        yield rows.take(np.resize(index, size)), len(index)


def _known(model: Encoded, rows: Array) -> Known:
    return (model.encoding.values(rows), *(None,) * (len(model.machine.layers) - 1))
