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
    radius, scale = _range(machine, layer)
    points, weights = np.polynomial.legendre.leggauss(16)
    panels = int(np.ceil(radius / scale))
    edges = np.linspace(0, radius, panels + 1)
    if not _half_line(unit).any():
        edges = np.concatenate([-edges[:0:-1], edges])
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
    half_line = np.concatenate([_half_line(unit) for unit in machine.layers])
    drive = drive + np.abs(couplings[:, bounded]) @ reach[bounded]
    # What two units on half lines take from each other when their coupling is negative only helps.
    pull = np.where(half_line[:, None] & half_line, np.maximum(couplings, 0), np.abs(couplings))
    form = (np.diag(least) - pull)[np.ix_(~bounded, ~bounded)]
    curvature = float(np.linalg.eigvalsh(form).min())
    if curvature <= 0:
        found = "couplings between continuous layers too strong for a bound on where their mass lies"
        raise ArgumentError("machine", found, "weights small against the precisions")
    total = float(np.linalg.norm(drive[~bounded]))
    radius = (total + np.sqrt(total**2 + 2 * curvature * DEPTH)) / curvature
    # exp(-E) itself varies on the scale 1/√γ; what another unit adds, on the scale of its spread over its weight.
    spread = np.where(bounded, reach, 1 / np.sqrt(most))
    start = sum(unit.bias.size for unit in machine.layers[:layer])
    mine = slice(start, start + machine.layers[layer].n)
    steepness = max(float(np.sqrt(most[mine]).max()), float((np.abs(couplings[mine]) * spread).max()))
    return radius, 1 / steepness


def _extent(unit: Unit) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each entry of a configuration: the largest |x|, the least and the most curvature of E, its slope at 0."""
    size, states, tails = unit.bias.size, unit.states(), unit.tails()
    if states is not None or tails is None:
        zero = np.zeros(size)
        return np.full(size, float(np.abs(np.asarray(states)).max())), zero, zero, zero
    slope = jax.grad(lambda x: jnp.sum(unit.energy(x)))
    sides = []
    for sign, tail in zip((-1, 1), tails, strict=True):
        gamma = np.asarray(tail, float)
        linear = np.abs(np.asarray(slope(jnp.full_like(unit.bias, sign))) - sign * gamma)
        sides.append((gamma, np.where(np.isfinite(gamma), linear, 0)))
    (left, left_drive), (right, right_drive) = sides
    most = np.maximum(np.where(np.isinf(left), 0, left), np.where(np.isinf(right), 0, right))
    return np.full(size, np.inf), np.minimum(left, right), most, np.maximum(left_drive, right_drive)


def _half_line(unit: Unit) -> np.ndarray:
    tails = unit.tails()
    return np.zeros(unit.bias.size, bool) if tails is None else np.isinf(np.asarray(tails[0]))
