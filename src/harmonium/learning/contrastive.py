"""Negative phases from short Markov chains: restarted at the data (CD) or never restarted (PCD)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Key, PyTree

from harmonium.learning.likelihood import Negative, marginalised, sweeps
from harmonium.learning.objective import Batch, shares
from harmonium.machine import Machine, State
from harmonium.sampling import gibbs


class Contrastive(Negative):
    """CD-k: k Gibbs sweeps from every data row (Hinton 2002). Biased: it follows no likelihood, but needs no chains."""

    n_gibbs: int = eqx.field(default=1, static=True)

    def init(self, key: Key[Array, ""], machine: Machine) -> PyTree:
        return None

    def step(self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        hidden = machine.layers[machine.n_visible :]
        rows = batch.visible + tuple(jnp.zeros((len(batch.weights), *h.shape), h.bias.dtype) for h in hidden)
        state = sweeps(key, machine, rows, self.n_gibbs)  # the hidden layers are drawn first
        return machine.statistics(marginalised(machine, state), shares(batch.weights, batch.total)), None


class Persistent(Negative):
    """PCD-k: chains of their own number, moved k sweeps a step and never restarted (Younes 1989, Tieleman 2008).

    The chains rest at the hidden side: a sweep ends by drawing the hidden layers, from the very inputs that give their
    means to the statistics, which saves a matrix product a step.
    """

    n_chains: int = eqx.field(static=True)
    n_gibbs: int = eqx.field(default=1, static=True)

    def init(self, key: Key[Array, ""], machine: Machine) -> PyTree:
        return gibbs.init(key, machine, self.n_chains)

    def step(self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        chains = sweeps(key, machine, chains, self.n_gibbs, order=machine.order[::-1])
        n = len(chains[0])  # fewer than n_chains, where these are only a part of them
        share = jnp.full(n, 1 / self.n_chains, machine.layers[0].bias.dtype)
        return machine.statistics(marginalised(machine, chains), share), chains

    def chains(self, carried: PyTree) -> State | None:
        chains: State = carried
        return chains
