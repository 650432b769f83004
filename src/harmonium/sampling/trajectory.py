r"""Sampling along the trajectory of learning: the rungs of the ladder are machines that learning went through.

Where learning passes a transition at which chains get stuck, so does a ladder of temperatures, and often by a jump that
no number of rungs bridges; the machines of the run itself change step by step, and each was learned from chains that
had found the modes of its time (Béreux, Decelle, Furtlehner, Rosset & Seoane 2024, arXiv:2405.15376: parallel
trajectory tempering). The first is best one without couplings, such as ``base_machine`` with the means of the data.

The rungs lie on the line from each saved machine to the next, which all are machines: how many there are, and where,
does not depend on how many were saved.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Scalar

from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.path import between
from harmonium.sampling.exchange import Replicas
from harmonium.sampling.ladder import Ladder


class Trajectory(Ladder):
    """Rungs at ``places`` between 0, the first of the machines before, and their number, the machine itself."""

    before: tuple[Machine, ...]
    places: Float[Array, " replica"]

    def replicas(self, machine: Machine) -> Replicas:
        """The machines at the rungs, which share no parameters."""
        knots = [eqx.filter(m, eqx.is_inexact_array) for m in (*self.before, machine)]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *knots)

        def at(place: Scalar) -> Machine:
            start = jnp.clip(jnp.floor(place).astype(int), 0, len(self.before) - 1)
            left, right = (jax.tree.map(lambda x, i=start + k: x[i], stacked) for k in (0, 1))
            rung: Machine = between(left, right, place - start)
            return rung

        varying: Machine = jax.vmap(at)(self.places)
        return Replicas(varying, eqx.filter(machine, eqx.is_inexact_array, inverse=True), jnp.ones_like(self.places))


def stages(before: Sequence[Machine], n_replicas: int = 10) -> Trajectory:
    """A ladder through machines in the order of learning, to be used with the last of all, which is not among them."""
    if not before:
        raise ArgumentError("before", "no machines", "one or more, in the order of learning")
    if n_replicas < 2:
        raise ArgumentError("n_replicas", f"{n_replicas}", "at least 2")
    shapes = [[leaf.shape for leaf in jax.tree.leaves(eqx.filter(m, eqx.is_inexact_array))] for m in before]
    if any(shape != shapes[0] for shape in shapes):
        raise ArgumentError("before", "machines of different shapes", "machines of one run")
    dtype = before[0].layers[0].bias.dtype
    return Trajectory(places=jnp.linspace(0, len(before), n_replicas, dtype=dtype), before=tuple(before))
