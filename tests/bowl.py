"""The least that can be trained: a place that climbs towards the mean of the rows, and a size that grows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import harmonium as hm
from harmonium.data import Batches, read
from harmonium.learning import Batch, Objective
from harmonium.training import Run, Schedule, optimiser


class Point(eqx.Module):
    """``place`` is where the rows draw it; ``size`` grows by itself."""

    place: jnp.ndarray
    size: jnp.ndarray


class Towards(Objective[Point]):
    """Gradient (1/B) Σ wᵢ (xᵢ - place), and ``size`` itself; carries the number of steps made, and the latest draw."""

    def init(self, key, model, means):
        return jnp.zeros((), jnp.int32), jnp.zeros(())

    def step(self, key, model, state, batch: Batch):
        place = batch.weights @ (batch.visible[0] - model.place[None]) / batch.full
        return Point(place, model.size), (state[0] + 1, jax.random.uniform(key))

    def magnitudes(self, model, batch):
        return {"the size": jnp.abs(model.size)}


def encode(rows):
    """A row with a negative value is one that makes no sense."""
    return (jnp.where(rows < 0, jnp.nan, rows),)


def as_they_are(rows):
    """One function for all tests: another would be another program."""
    return (rows,)


def point(size=0.0):
    return Point(jnp.zeros(2), jnp.asarray(size))


def rows(n, seed=0):
    return np.random.default_rng(seed).random((n, 2)).astype(np.float32)


def batches(X, size=4, seed=0, weights=None):
    return Batches(read(X), size, seed, weights)


def begun(name="sgd", rate=0.5, n_updates=1000, shape="constant", model=None, emphasis=4.0, seed=0):
    """A run and its start."""
    run = Run(Towards(), optimiser(name, Schedule(rate, n_updates, shape)), encode, emphasis)
    return run, run.start(hm.key(seed), point() if model is None else model, (jnp.zeros(2),))
