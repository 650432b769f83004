"""A negative phase by parallel tempering: persistent chains at several temperatures, that swap as they go."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, PyTree

from harmonium.learning.likelihood import Negative, marginalised
from harmonium.learning.objective import Batch
from harmonium.machine import Machine, State
from harmonium.sampling import exchange
from harmonium.sampling.tempering import temperatures

RATE = 0.01
"""The share of the way to evenly spaced swaps that the ladder goes in a step: it must follow learning, and slowly."""


class Tempered(Negative):
    """Persistent chains on a ladder of temperatures (Desjardins et al. 2010); those of the machine itself are counted.

    ``n_gibbs`` sweeps a step, before each of which every other pair of neighbours may swap. The ladder begins in the
    units of the first machine, left to themselves; its rungs move so that all pairs swap about as often.
    """

    n_chains: int = eqx.field(static=True)
    n_temperatures: int = eqx.field(default=10, static=True)
    n_gibbs: int = eqx.field(default=1, static=True)

    def init(self, key: Key[Array, ""], machine: Machine) -> PyTree:
        ladder = temperatures(machine, self.n_temperatures)
        return ladder, ladder.init(key, machine, self.n_chains), jnp.zeros((), jnp.int32)

    def step(self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        ladder, state, swept = chains
        replicas = ladder.replicas(machine)

        def sweep(t: Array, carry: tuple[State, Array]) -> tuple[State, Array]:
            state, swapped = carry
            state, info = exchange.half_step(jax.random.fold_in(key, t), replicas, state, (swept + t) % 2)
            return state, swapped + info.swapped / self.n_gibbs

        state, swapped = jax.lax.fori_loop(0, self.n_gibbs, sweep, (state, jnp.zeros_like(ladder.places[1:])))
        own = ladder.own(state)
        after = (ladder.evened(swapped, RATE), state, (swept + self.n_gibbs) % 2)
        return machine.statistics(marginalised(machine, own)), after
