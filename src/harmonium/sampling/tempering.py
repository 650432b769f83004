r"""Parallel tempering: replicas from a machine without couplings, whose chains mix in one sweep, to the machine.

θ_β = (1-β)θ₀ + βθ at each rung β (Swendsen & Wang 1986; Geyer 1991; for RBMs Desjardins et al. 2010, Cho et al. 2010).
All rungs have the couplings of θ, times β: what they send is one matrix product for the chains of all temperatures.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.path import base_machine, lifted
from harmonium.sampling.exchange import Replicas
from harmonium.sampling.ladder import Ladder
from harmonium.units.unit import Values, known

FIRST = 2.0**-12
"""The inverse temperature of the first rung: couplings so weak that a sweep is nearly an independent draw."""


class Tempering(Ladder):
    """A ladder of inverse temperatures from nearly 0 to 1, between a base without couplings and the machine."""

    base: Machine
    places: Float[Array, " replica"]

    def replicas(self, machine: Machine) -> Replicas:
        """θ_β/β at each β: with the couplings of the machine, and layers of its own."""
        layers = jax.vmap(lambda beta: lifted(self.base, machine, beta).layers, axis_size=len(self.places))(self.places)
        both = eqx.tree_at(lambda m: m.layers, machine, layers)
        nowhere = jax.tree.map(lambda _: False, machine)
        spread = eqx.tree_at(lambda m: m.layers, nowhere, jax.tree.map(eqx.is_inexact_array, machine.layers))
        varying, shared = eqx.partition(both, spread)
        return Replicas(varying, shared, self.places)


def temperatures(
    machine: Machine, n_replicas: int = 10, *, base: Machine | None = None, betas: Values | None = None
) -> Tempering:
    """A ladder for parallel tempering of a machine; ``base`` is by default ``base_machine(machine)``.

    ``betas``, in order and ending in 1, replace ``n_replicas`` of equal distance; adaptation moves all but the ends.
    """
    dtype = machine.layers[0].bias.dtype
    if betas is None:
        if n_replicas < 2:
            raise ArgumentError("n_replicas", f"{n_replicas}", "at least 2")
        rungs = jnp.linspace(FIRST, 1, n_replicas, dtype=dtype)
    else:
        rungs = jnp.asarray(betas, dtype)
        if rungs.ndim != 1 or len(rungs) < 2:
            raise ArgumentError("betas", f"shape {rungs.shape}", "at least two inverse temperatures")
        if known(rungs) and not (rungs[0] > 0 and rungs[-1] == 1 and bool(jnp.all(jnp.diff(rungs) > 0))):
            raise ArgumentError("betas", f"values from {rungs[0]} to {rungs[-1]}", "values above 0, growing up to 1")
    return Tempering(places=rungs, base=base_machine(machine) if base is None else base)
