r"""Nodes and weights for one unit at a time: all its states, or Gauss-Legendre points where they are infinitely many.

Points are laid so that a tensor product of them integrates exp(-E) to rounding error: the range contains all but
e^-80 of the mass, by the bound E(x) ≥ ½λ|x|² - d|x| (λ the least curvature of the quadratic part, d the largest drive
that biases and bounded units can exert), and a panel of 16 points is no longer than the scale on which exp(-E) varies.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.units import Unit
from harmonium.units.unit import known

DEPTH = 80.0


class Nodes(NamedTuple):
    """The values over which a layer is summed: ``(n, s[, K])``, with the log of their weights, ``(n, s)``."""

    values: Float[Array, "n s *k"]
    log_weights: Float[Array, "n s"]


def nodes(machine: Machine, layer: int) -> Nodes:
    """The nodes of every unit of a layer."""
    unit = machine.layers[layer]
    states = unit.states()
    if states is not None:
        values = jnp.broadcast_to(states, (unit.n, *states.shape))
        return Nodes(values, jnp.zeros(values.shape[:2], unit.bias.dtype))
    if not known(unit.bias):
        raise ArgumentError("machine", "parameters that JAX traces", "known ones: quadrature lays its nodes by them")
    radius, scale = _range(machine, layer)
    low, high = max(unit.support[0], -radius), min(unit.support[1], radius)
    points, weights = np.polynomial.legendre.leggauss(16)
    panels = 2 * int(np.ceil((high - low) / scale / 2))
    edges = np.linspace(low, high, panels + 1)
    if low < 0 < high:  # a two-sided unit may have a kink at zero
        edges = np.union1d(edges, 0.0)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    grid = (middle[:, None] + half[:, None] * points).ravel()
    log_weights = np.log(half[:, None] * weights).ravel()
    shape, dtype = (unit.n, len(grid)), unit.bias.dtype
    return Nodes(*(jnp.broadcast_to(jnp.asarray(row, dtype), shape) for row in (grid, log_weights)))


def _range(machine: Machine, layer: int) -> tuple[float, float]:
    """A radius that holds the mass, and the smallest scale on which exp(-E) varies with a unit of the layer."""
    reach, least, most, drive = (
        np.concatenate(parts) for parts in zip(*(_extent(unit) for unit in machine.layers), strict=True)
    )
    couplings = np.asarray(machine.coupling_matrix(range(len(machine.layers))), float)
    bounded = np.isfinite(reach)
    positive = np.concatenate([np.full(unit.bias.size, unit.support[0] >= 0) for unit in machine.layers])
    drive = drive + np.abs(couplings[:, bounded]) @ reach[bounded]
    # A negative coupling of two units that are never negative only raises the energy.
    pull = np.where(positive[:, None] & positive, np.maximum(couplings, 0), np.abs(couplings))
    form = (np.diag(least) - pull)[np.ix_(~bounded, ~bounded)]
    curvature = float(np.linalg.eigvalsh(form).min()) if len(form) else 1.0
    if curvature <= 0:
        found = "couplings between continuous layers too strong for a bound on where their mass lies"
        raise ArgumentError("machine", found, "weights small against the precisions")
    total = float(np.linalg.norm(drive[~bounded]))
    radius = (total + np.sqrt(total**2 + 2 * curvature * DEPTH)) / curvature
    # exp(-E) itself varies on the scale 1/√γ, or one over the largest drive if bounded; what another unit adds, on
    # the scale of that unit's spread over the weight.
    own = np.where(bounded, drive + np.abs(couplings[:, ~bounded]).sum(axis=1) * radius, np.sqrt(most))
    spread = np.where(bounded, reach, 1 / np.sqrt(np.where(bounded, 1, most)))
    start = sum(unit.bias.size for unit in machine.layers[:layer])
    mine = slice(start, start + machine.layers[layer].n)
    return radius, 1 / max(float(own[mine].max()), float((np.abs(couplings[mine]) * spread).max()), 1 / radius)


def _extent(unit: Unit) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each entry of a configuration: the largest |x|, the least and the most curvature of E, its slope at 0."""
    size, states, tails = unit.bias.size, unit.states(), unit.tails()
    zero = np.zeros(size)
    if tails is None:
        ends = unit.support if states is None else np.asarray(states)
        slope = np.abs(np.asarray(unit.bias)).ravel()
        return np.full(size, float(np.abs(ends).max())), zero, zero, slope
    gradient = jax.grad(lambda x: jnp.sum(unit.energy(x)))
    drive = zero
    for sign, gamma in ((-1, np.asarray(tails[0], float)), (1, np.asarray(tails[1], float))):
        inside = np.isfinite(gamma)
        linear = np.asarray(gradient(jnp.full_like(unit.bias, sign)), float) - sign * np.where(inside, gamma, 0)
        drive = np.maximum(drive, np.where(inside, np.abs(linear), 0))
    most = np.maximum(*(np.where(np.isinf(side), 0, np.asarray(side, float)) for side in tails))
    return np.full(size, np.inf), np.minimum(*(np.asarray(side, float) for side in tails)), most, drive
