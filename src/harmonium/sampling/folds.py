"""What is kept of a chain while it runs: folds over its draws, so that moments need no stored samples."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from harmonium.machine import Machine, State


class Fold(eqx.Module):
    """An accumulator: ``start``, then ``add`` for every draw, then ``result``. Equal by value: no recompilation."""

    @abstractmethod
    def start(self, machine: Machine, state: State, n_draws: int) -> PyTree:
        """The empty accumulator for ``n_draws`` draws."""

    @abstractmethod
    def add(self, total: PyTree, machine: Machine, state: State, draw: Array) -> PyTree:
        """The accumulator after the draw of index ``draw``."""

    def result(self, total: PyTree) -> Any:
        """What the runner returns."""
        return total


class Keep(Fold):
    """All draws: one array a layer, ``(chain, draw, *layer.shape)``."""

    def start(self, machine: Machine, state: State, n_draws: int) -> PyTree:
        return tuple(jnp.zeros((n_draws, *x.shape), x.dtype) for x in state)

    def add(self, total: PyTree, machine: Machine, state: State, draw: Array) -> PyTree:
        return tuple(kept.at[draw].set(x) for kept, x in zip(total, state, strict=True))

    def result(self, total: PyTree) -> Any:
        return tuple(jnp.moveaxis(kept, 0, 1) for kept in total)


class Moments(Fold):
    """Mean and variance of every unit over draws and chains: ``(means, variances)``, one array a layer each.

    By Welford's update with whole batches (Chan, Golub & LeVeque 1983), which does not cancel.
    """

    def start(self, machine: Machine, state: State, n_draws: int) -> PyTree:
        zeros = tuple(jnp.zeros(x.shape[1:], x.dtype) for x in state)
        return zeros, zeros

    def add(self, total: PyTree, machine: Machine, state: State, draw: Array) -> PyTree:
        share = 1 / (draw + 1).astype(state[0].dtype)

        def merge(mean: Array, variance: Array, x: Array) -> tuple[Array, Array]:
            delta = x.mean(axis=0) - mean
            return mean + share * delta, variance + share * (x.var(axis=0) - variance + (1 - share) * delta**2)

        merged = [merge(*entry) for entry in zip(*total, state, strict=True)]
        return tuple(mean for mean, _ in merged), tuple(variance for _, variance in merged)


class Statistics(Fold):
    """The mean of the machine's sufficient statistics, in the machine's shape: its gradient phase."""

    def start(self, machine: Machine, state: State, n_draws: int) -> PyTree:
        return jax.tree.map(jnp.zeros_like, eqx.filter(machine, eqx.is_inexact_array))

    def add(self, total: PyTree, machine: Machine, state: State, draw: Array) -> PyTree:
        share = 1 / (draw + 1).astype(state[0].dtype)
        return jax.tree.map(lambda mean, new: mean + share * (new - mean), total, machine.statistics(state))
