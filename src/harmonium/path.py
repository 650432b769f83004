r"""The way from one machine to another: θ_β = (1-β)θ₀ + βθ is a machine for every β, as energies are linear in θ.

It is normalisable if both ends are. Where it begins in a machine without couplings, it begins in one whose log Z and
exact draws are known: annealing and tempering go along it.
"""

from collections.abc import Sequence
from math import inf
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Scalar

from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.units import Unit
from harmonium.units.unit import Values

SMOOTHING = 0.05
"""The share of a neutral layer's mean in the mean of the base: no unit of the base is frozen."""

Part = TypeVar("Part", bound=eqx.Module)


def base_machine(machine: Machine, means: Sequence[Values] | None = None) -> Machine:
    """The machine without its couplings, its hidden biases 0.

    With ``means``, those of the visible layers in the data, its visible layers have these (nearly: see ``SMOOTHING``):
    a base that resembles the data lowers the variance. So do hidden biases of 0: the hidden units of a learned machine
    are mostly held down by their own, and would follow the couplings late.
    """
    visible = machine.layers[: machine.n_visible]
    if means is not None:
        arrays = [jnp.asarray(mean, unit.bias.dtype) for mean, unit in zip(means, visible, strict=False)]
        shapes, wanted = [mean.shape for mean in arrays], [unit.shape for unit in visible]
        if len(means) != len(visible) or shapes != wanted:
            raise ArgumentError("means", f"{len(means)} arrays of shapes {shapes}", f"{wanted}, of the visible layers")
        visible = tuple(unit.with_mean(_smoothed(unit, mean)) for unit, mean in zip(visible, arrays, strict=True))
    hidden = machine.layers[machine.n_visible :]
    layers = (*visible, *(eqx.tree_at(lambda u: u.bias, unit, jnp.zeros_like(unit.bias)) for unit in hidden))
    couplings = tuple(eqx.tree_at(lambda c: c.weights, c, jnp.zeros_like(c.weights)) for c in machine.couplings)
    base: Machine = eqx.tree_at(lambda m: (m.layers, m.couplings), machine, (layers, couplings))
    return base


def between(start: Part, end: Part, beta: Float[Array, ""] | float) -> Part:
    """θ_β = (1-β)θ₀ + βθ, of a machine or of one of its layers."""
    first = eqx.filter(start, eqx.is_inexact_array)
    last, rest = eqx.partition(end, eqx.is_inexact_array)
    mixed: Part = eqx.combine(jax.tree.map(lambda a, b: (1 - beta) * a + beta * b, first, last), rest)
    return mixed


def lifted(base: Machine, machine: Machine, beta: Scalar) -> Machine:
    """θ_β/β for β > 0, where the base has no couplings: β times what this returns is θ_β, and its couplings are θ's.

    So a Gibbs step of it at inverse temperature β multiplies by the same matrices for every β.
    """
    pairs = zip(base.layers, machine.layers, strict=True)
    layers = tuple(between(alone, unit, beta).scaled(1 / beta) for alone, unit in pairs)
    changed: Machine = eqx.tree_at(lambda m: m.layers, machine, layers)
    return changed


def _smoothed(unit: Unit, mean: Array) -> Array:
    """Off the ends of the unit's domain, where its bias would be infinite."""
    if unit.tails() is not None and unit.support == (-inf, inf):
        return mean
    return (1 - SMOOTHING) * mean + SMOOTHING * unit.neutral().mean(jnp.zeros_like(mean))
