r"""Replica exchange: chains of several machines side by side, of which neighbours swap their configurations.

Replica r follows the machine θ_r. Its neighbours r and r+1 swap configurations x and y with probability

    min(1, exp(F_r(x) + F_r+1(y) - F_r(y) - F_r+1(x))),

which leaves Πₛ pₛ invariant. F sums over layers that do not touch each other, and these are drawn anew after the swap,
under the machine they then belong to: so each F is the free energy of the machine whose chain it judges. (β times the
free energy of θ₁ is not that of βθ₁: by it, chains drift.) Where no layer can be summed over, or all are held fixed,
F is the energy, and whole configurations are judged.

A step is two sweeps: before the first, even pairs may swap, before the second, odd ones. Configurations travel along
the ladder in one direction for longer than if pairs were chosen by chance (Okabe et al. 2001; Syed, Bouchard-Côté,
Deligiannidis & Doucet 2022, from whom we also have the placing of the rungs).

A state holds all replicas, one after the other: arrays ``(replica * chain, *layer.shape)``, the last the machine's own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Scalar

from harmonium.machine import Known, Machine, State
from harmonium.sampling import gibbs
from harmonium.sampling.gibbs import Clamp

Result = TypeVar("Result")


class Info(NamedTuple):
    """What a step did: for each pair of neighbours, the mean probability of a swap."""

    swapped: Float[Array, " pair"]


class Replicas(eqx.Module):
    """The machines of all replicas, θ_r = β_r·(machine r): what differs has a leading axis, what is shared has none."""

    varying: Machine
    shared: Machine
    betas: Float[Array, " replica"]

    def map(self, function: Callable[..., Result], *arrays: Any, part: slice = slice(None)) -> Result:
        """``function(machine_r, β_r, array_r, …)`` for every replica: a product with shared weights is one for all."""

        def one(varying: Machine, beta: Scalar, *own: Any) -> Result:
            return function(eqx.combine(varying, self.shared), beta, *own)

        parts = jax.tree.map(lambda x: x[part], (self.varying, self.betas))
        mapped: Result = jax.vmap(one)(*parts, *arrays)
        return mapped

    def rises(self, known: Known) -> tuple[Float[Array, "pair chain"], Float[Array, "pair chain"]]:
        """F_r - F_r+1 at the configurations of r, and at those of r+1: of all neighbours, layers that are None summed.

        Their difference is the log of the ratio of a swap; ⟨exp(F_r - F_r+1)⟩ at those of r is Z_r+1/Z_r.
        """
        above, beta_above = jax.tree.map(lambda x: x[1:], (self.varying, self.betas))

        def rise(below: Machine, beta: Scalar, above: Machine, beta_above: Scalar, known: Known) -> Array:
            return _difference(below, beta, eqx.combine(above, self.shared), beta_above, known)

        def at(known: Known) -> Array:
            return self.map(rise, above, beta_above, known, part=slice(None, -1))

        return at(jax.tree.map(lambda x: x[:-1], known)), at(jax.tree.map(lambda x: x[1:], known))


def step(key: Key[Array, ""], replicas: Replicas, state: State, clamp: Clamp | None = None) -> tuple[State, Info]:
    """Two sweeps, before which even pairs of neighbours, then odd ones, may swap: each replica's p_r stays."""
    state, even = half_step(jax.random.fold_in(key, 0), replicas, state, 0, clamp)
    state, odd = half_step(jax.random.fold_in(key, 1), replicas, state, 1, clamp)
    return state, Info((even.swapped + odd.swapped) / 2)


def half_step(
    key: Key[Array, ""], replicas: Replicas, state: State, parity: Int[Array, ""] | int, clamp: Clamp | None = None
) -> tuple[State, Info]:
    """One sweep, before which the pairs (r, r+1) with r of this parity may swap.

    Only what stands in the same row of two replicas is swapped: what is clamped must be the same in all of them.
    """
    n = len(replicas.betas)
    machine = eqx.combine(jax.tree.map(lambda x: x[0], replicas.varying), replicas.shared)
    clamp = clamp or (False,) * len(machine.layers)
    summed = summable(machine, clamp)
    order = (*summed, *(layer for layer in machine.order if layer not in summed))
    swap_key, sweep_key = jax.random.split(key)

    apart = divided(state, n)
    known = tuple(None if layer in summed else x for layer, x in enumerate(apart))
    here, there = replicas.rises(known)
    uniform = jax.random.uniform(swap_key, here.shape, here.dtype)
    swapped = (jnp.log(uniform) < here - there) & (jnp.arange(n - 1) % 2 == parity)[:, None]
    none = jnp.zeros((1, swapped.shape[1]), int)
    source = jnp.arange(n)[:, None] + jnp.concatenate([swapped, none]) - jnp.concatenate([none, swapped])
    apart = jax.tree.map(lambda x: jnp.take_along_axis(x, source.reshape(*source.shape, *[1] * (x.ndim - 2)), 0), apart)

    masks, whole = eqx.partition(clamp, eqx.is_array)

    def sweep(machine: Machine, beta: Scalar, key: Key[Array, ""], state: State, masks: Any) -> State:
        return gibbs.step(key, machine, state, eqx.combine(masks, whole), beta, order)[0]

    apart = replicas.map(sweep, jax.random.split(sweep_key, n), apart, divided(masks, n))
    return joined(apart), Info(jnp.mean(jnp.exp(jnp.minimum(here - there, 0)), axis=1))


def summable(machine: Machine, clamp: Clamp | None) -> tuple[int, ...]:
    """The layers that are summed over: none of which anything is held."""
    return tuple(layer for layer in machine.summable() if clamp is None or clamp[layer] is False)


def divided(state: Any, n: int) -> Any:
    """``(replica * chain, …)`` as ``(replica, chain, …)``."""
    return jax.tree.map(lambda x: x.reshape(n, -1, *x.shape[1:]), state)


def joined(state: State) -> State:
    """``(replica, chain, …)`` as ``(replica * chain, …)``."""
    return tuple(x.reshape(-1, *x.shape[2:]) for x in state)


def _difference(a: Machine, beta_a: Scalar, b: Machine, beta_b: Scalar, known: Known) -> Float[Array, " chain"]:
    """F of β_a·a less F of β_b·b, layer by layer: a difference of two sums would lose digits."""
    total = jnp.zeros((), beta_a.dtype)
    for layer, x in enumerate(known):
        one, other = a.layers[layer].scaled(beta_a), b.layers[layer].scaled(beta_b)
        if x is None:
            inputs = [beta * m.inputs_from_others(known, layer) for m, beta in ((a, beta_a), (b, beta_b))]
            total = total + jnp.sum(other.cgf(inputs[1]) - one.cgf(inputs[0]), axis=-1)
        else:
            total = total + one.energy(x) - other.energy(x)
    for i, (left, right) in enumerate(a.joins):
        x, y = known[left], known[right]
        if x is not None and y is not None:
            x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
            sent = beta_b * b.couplings[i].forward(x) - beta_a * a.couplings[i].forward(x)
            total = total + jnp.sum(sent * y, axis=-1) / (2 if left == right else 1)
    return total
