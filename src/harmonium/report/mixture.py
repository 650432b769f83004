"""A mixture of layers of independent columns: the plain model that a learned one should be better than."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.units import Gaussian, Unit

STEPS = 40
SIZES = (10, 40, 160)


class Mixture(NamedTuple):
    """p(x) = Σ_k π_k p_k(x), each p_k a layer of units that ignore each other (Bishop 2006, §9.3.3).

    ``layers`` is one layer whose parameters have a leading axis, a component each.
    """

    shares: Float[Array, " k"]
    layers: Unit

    @classmethod
    def fit(cls, unit: Unit, values: Array, k: int, seed: int = 0, n_steps: int = STEPS) -> "Mixture":
        """By expectation maximisation, from random rows; every component has seen one neutral row more.

        ``unit`` says the type of the columns. A neutral row of Gaussian columns is one of the whole table.
        """
        kinds = np.unique(np.asarray(values), axis=0)  # components that start as one stay one
        chosen = np.random.default_rng(seed).choice(len(kinds), k, replace=len(kinds) < k)
        starts = (jnp.asarray(kinds[chosen]) + _neutral(unit, values)[None]) / 2
        spread = jnp.broadcast_to(jnp.var(values, axis=0)[None], starts.shape)
        made = cls(jnp.full(k, 1 / k, starts.dtype), _layers(unit, starts, spread))
        climbed: Mixture = _climbed(made, unit, values, n_steps)
        return climbed

    @classmethod
    def best(cls, unit: Unit, values: Array, held_out: Array, sizes: tuple[int, ...] = SIZES) -> "Mixture":
        """The fit with the number of components that makes other rows likeliest."""
        fits = [cls.fit(unit, values, k) for k in sizes]
        return max(fits, key=lambda one: float(one.log_likelihood(held_out).mean()))

    def log_likelihood(self, values: Array) -> Float[np.ndarray, " rows"]:
        """log p(x) of each row."""
        return np.asarray(_log_likelihood(self, values), float)

    def of(self, values: Array) -> Float[Array, " rows"]:
        """The same, within a computation."""
        found: Array = jax.nn.logsumexp(_joint(self, values), axis=1)
        return found


@eqx.filter_jit
def _climbed(mixture: Mixture, unit: Unit, values: Array, n_steps: int) -> Mixture:
    neutral = _neutral(unit, values)
    square = jnp.var(values, axis=0) + jnp.mean(values, axis=0) ** 2

    def step(_: Array, moving: Mixture) -> Mixture:
        weight = jax.nn.softmax(_joint(eqx.combine(moving, fixed), values), axis=1)
        mass = jnp.sum(weight, axis=0)
        whole = (mass + 1).reshape(-1, *(1,) * (values.ndim - 1))
        mean = (jnp.tensordot(weight.T, values, 1) + neutral[None]) / whole
        spread = (jnp.tensordot(weight.T, values**2, 1) + square[None]) / whole - mean**2
        made = Mixture((mass + 1) / jnp.sum(mass + 1), _layers(unit, mean, spread))
        moved: Mixture = eqx.filter(made, eqx.is_inexact_array)
        return moved

    moving, fixed = eqx.partition(mixture, eqx.is_inexact_array)
    climbed: Mixture = eqx.combine(jax.lax.fori_loop(0, n_steps, step, moving), fixed)
    return climbed


@eqx.filter_jit
def _log_likelihood(mixture: Mixture, values: Array) -> Array:
    return mixture.of(values)


def _joint(mixture: Mixture, values: Array) -> Float[Array, "rows k"]:
    def of_layer(layer: Unit) -> Array:
        return -layer.energy(values) - jnp.sum(layer.cgf(jnp.zeros_like(layer.bias)))

    joint: Array = eqx.filter_vmap(of_layer, out_axes=1)(mixture.layers) + jnp.log(mixture.shares)[None]
    return joint


def _layers(unit: Unit, means: Array, spreads: Array) -> Unit:
    """Layers with these means; with these variances, where the unit has a variance of its own."""
    if isinstance(unit, Gaussian):
        gaussian: Unit = eqx.filter_vmap(Gaussian.from_moments)(means, jnp.maximum(spreads, 1e-6))
        return gaussian
    layers: Unit = eqx.filter_vmap(unit.with_mean)(means)
    return layers


def _neutral(unit: Unit, values: Array) -> Array:
    if isinstance(unit, Gaussian):
        return jnp.mean(values, axis=0)
    return unit.neutral().mean(jnp.zeros_like(unit.bias))
