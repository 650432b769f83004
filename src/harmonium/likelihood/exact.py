r"""Exact answers for small machines: Z, probabilities, moments and draws, by summing over everything.

Layers are split in three. Those *summed in closed form* do not touch each other: each contributes its cgf. If
Gaussian layers touch, all of them are integrated together: with Λ their joint precision and η what acts on them,
log ∫ exp(ηᵀx - ½xᵀΛx) dx = ½ηᵀΛ⁻¹η - ½log det(Λ/2π). The *rest* is enumerated in chunks: all states of bounded units,
quadrature nodes of unbounded ones. The cost is the number of configurations of the rest; the split makes it smallest.
"""

from collections.abc import Callable, Iterable
from itertools import combinations
from math import inf, log, prod
from typing import NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from harmonium.errors import ArgumentError
from harmonium.likelihood.quadrature import Nodes, nodes
from harmonium.machine import Known, Machine, State
from harmonium.sampling import gibbs
from harmonium.units import Gaussian

CHUNK = 2**14
T = TypeVar("T")


class Split(NamedTuple):
    """How each layer that is not given is summed."""

    closed: tuple[int, ...]
    joint: tuple[int, ...]
    listed: tuple[int, ...]


def log_partition(machine: Machine, max_states: int = 2**25) -> Float[Array, ""]:
    """log Z = log Σ_x exp(-E(x)).

    >>> import harmonium as hm
    >>> machine = hm.rbm(hm.Bernoulli(3), hm.Bernoulli(2))  # zero weights: Z = 2⁵
    >>> round(float(log_partition(machine)), 4)
    3.4657
    """
    empty: Known = (None,) * len(machine.layers)
    return -free_energy(machine, empty, max_states)[0]


def work(machine: Machine) -> float:
    """What ``log_partition`` costs: configurations to list, times units that are summed for each; inf if it cannot."""
    empty: Known = (None,) * len(machine.layers)
    try:
        split, grid = _plan(machine, empty, 2**31)
    except ArgumentError:  # too many configurations, or no quadrature
        return inf
    width = sum(machine.layers[layer].n for layer in (*split.closed, *split.joint, *split.listed))
    return float(_count(grid) * width)


def free_energy(machine: Machine, state: Known, max_states: int = 2**25) -> Float[Array, " batch"]:
    """F = -log Σ exp(-E) over the layers that are None in ``state``, whether or not they touch."""
    machine.require_normalisable()
    split, grid = _plan(machine, state, max_states)
    return -_log_sum(machine, state, split, grid)


def log_probability(machine: Machine, state: Known, max_states: int = 2**25) -> Float[Array, " batch"]:
    """log p of the layers given in ``state``, the others summed out: -F - log Z."""
    return -free_energy(machine, state, max_states) - log_partition(machine, max_states)


def statistics(machine: Machine, max_states: int = 2**25) -> Machine:
    """⟨-∂E/∂θ⟩ under the machine itself, in the machine's shape: exact moments, and the exact negative phase."""
    machine.require_normalisable()
    empty: Known = (None,) * len(machine.layers)
    split, grid = _plan(machine, empty, max_states)
    return _statistics(machine, split, grid, _log_sum(machine, empty, split, grid)[0])


def sample(key: Key[Array, ""], machine: Machine, n_samples: int, max_states: int = 2**22) -> State:
    """Independent exact draws: one array a layer, ``(n_samples, *layer.shape)``.

    Continuous layers that had to be listed start at a quadrature node; a Gibbs update given the rest then makes them
    continuous, and their distribution as exact as the quadrature.
    """
    machine.require_normalisable()
    empty: Known = (None,) * len(machine.layers)
    split, grid = _plan(machine, empty, max_states)
    return _sample(key, machine, split, grid, n_samples)


def _plan(machine: Machine, state: Known, max_states: int) -> tuple[Split, tuple[Nodes, ...]]:
    unknown = [layer for layer, x in enumerate(state) if x is None]
    touching = {frozenset(join) for join in machine.joins}
    gaussian = [layer for layer in unknown if isinstance(machine.layers[layer], Gaussian)]
    joint = tuple(gaussian) if any(join <= set(gaussian) for join in touching) else ()
    candidates = [layer for layer in unknown if layer not in joint]

    def separate(layers: Iterable[int]) -> bool:
        chosen = set(layers)
        return not any(join <= chosen or (join & chosen and join & set(joint)) for join in touching)

    def cost(listed: Iterable[int]) -> float:
        listed = list(listed)
        continuous = sum(machine.layers[layer].n for layer in listed if machine.layers[layer].states() is None)
        return 1e9 * continuous + sum(_log_count(machine, layer) for layer in listed)

    subsets = [s for size in range(len(candidates) + 1) for s in combinations(candidates, size) if separate(s)]
    closed = min(subsets, key=lambda s: cost(layer for layer in candidates if layer not in s))
    listed = tuple(layer for layer in candidates if layer not in closed)
    # Where the nodes lie does not change the integral, so it is no part of a gradient.
    grid = tuple(nodes(jax.lax.stop_gradient(machine), layer) for layer in listed)
    count = _count(grid)
    if count > min(max_states, 2**31 - 1):  # places in the list are 32-bit numbers
        sizes = ", ".join(f"{machine.names[layer]!r} of {machine.layers[layer].n} units" for layer in listed)
        raise ArgumentError(
            "machine",
            f"{count:.3g} configurations of {sizes}",
            f"at most {max_states:.3g} (max_states) to list them all",
        )
    return Split(closed, joint, listed), grid


def _count(grid: tuple[Nodes, ...]) -> int:
    return prod(g.values.shape[1] ** g.values.shape[0] for g in grid)


def _log_count(machine: Machine, layer: int) -> float:
    states = machine.layers[layer].states()
    return 0.0 if states is None else machine.layers[layer].n * log(len(states))


def _configurations(
    machine: Machine, split: Split, grid: tuple[Nodes, ...], index: Array
) -> tuple[dict[int, Array], Array]:
    """The listed layers at the given places of the list, and the log weights: mixed-radix digits, last unit fastest."""
    arrays: dict[int, Array] = {}
    log_weight = jnp.zeros(index.shape, machine.layers[0].bias.dtype)
    for layer, (values, log_weights) in zip(split.listed, grid, strict=True):
        n, size = log_weights.shape
        digits = []
        for _ in range(n):
            digits.append(index % size)
            index = index // size
        place = jnp.stack(digits[::-1], axis=1)
        arrays[layer] = values[jnp.arange(n)[None], place]
        log_weight = log_weight + log_weights[jnp.arange(n)[None], place].sum(axis=1)
    return arrays, log_weight


def _joint_normal(machine: Machine, split: Split, known: Known) -> tuple[Array, Array, Array]:
    """η, the Cholesky factor of Λ, and log ∫, for the Gaussian layers integrated together."""
    precisions = [1 / unit.variance(jnp.zeros_like(unit.bias)) for unit in (machine.layers[i] for i in split.joint)]
    precision = jnp.diag(jnp.concatenate(precisions)) - machine.coupling_matrix(split.joint)
    alone = tuple(None if layer in split.joint else x for layer, x in enumerate(known))
    fields = [machine.layers[layer].field(machine.inputs_from_others(alone, layer)) for layer in split.joint]
    field = jnp.concatenate(fields, axis=-1)
    factor = jnp.linalg.cholesky(precision)
    half = jax.scipy.linalg.solve_triangular(factor, field.T, lower=True).T
    log_det = jnp.sum(jnp.log(jnp.diag(factor)))
    log_integral = jnp.sum(half**2, axis=-1) / 2 - log_det + len(factor) * jnp.log(2 * jnp.pi) / 2
    return field, factor, log_integral


def _log_weight(machine: Machine, state: Known, split: Split, grid: tuple[Nodes, ...], index: Array) -> Array:
    """log Σ exp(-E) over all but the listed layers, at the given places of the list: ``(batch, places)``."""
    arrays, log_weight = _configurations(machine, split, grid, index)
    given = [layer for layer, x in enumerate(state) if x is not None]

    def one(row: tuple[Array, ...]) -> Array:
        known: list[Array | None] = [None] * len(machine.layers)
        for layer, x in zip(given, row, strict=True):
            known[layer] = jnp.broadcast_to(x, (len(index), *x.shape))
        for layer, x in arrays.items():
            known[layer] = x
        total = jnp.zeros((), log_weight.dtype)
        if split.joint:
            total = _joint_normal(machine, split, tuple(known))[2]
            for layer in split.joint:  # at zero their own energy, and all their couplings, vanish
                known[layer] = jnp.zeros((*total.shape, *machine.layers[layer].shape), total.dtype)
        total = total - machine.free_energy(tuple(known))
        return log_weight + jnp.broadcast_to(total, log_weight.shape)

    rows = tuple(x for x in state if x is not None)
    if not rows:
        return one(())[None]
    return jax.lax.map(one, rows) if len(rows[0]) > 1 else one(tuple(x[0] for x in rows))[None]


def _over_list(grid: tuple[Nodes, ...], start: T, add: Callable[[T, Array, Array], T]) -> T:
    """Fold ``add(total, places, inside)`` over the list in chunks of one shape; ``inside`` marks real places."""
    count = _count(grid)
    size = min(CHUNK, count)

    def chunk(total: T, first: Array) -> tuple[T, None]:
        places = first + jnp.arange(size)
        return add(total, jnp.minimum(places, count - 1), places < count), None

    return jax.lax.scan(chunk, start, jnp.arange(0, count, size))[0]


@eqx.filter_jit
def _log_sum(machine: Machine, state: Known, split: Split, grid: tuple[Nodes, ...]) -> Array:
    batch = next((len(x) for x in state if x is not None), 1)

    def add(total: Array, places: Array, inside: Array) -> Array:
        log_weight = jnp.where(inside[None], _log_weight(machine, state, split, grid, places), -jnp.inf)
        return jnp.logaddexp(total, jax.nn.logsumexp(log_weight, axis=1))

    return _over_list(grid, jnp.full(batch, -jnp.inf, machine.layers[0].bias.dtype), add)


@eqx.filter_jit
def _statistics(machine: Machine, split: Split, grid: tuple[Nodes, ...], log_z: Array) -> Machine:
    empty: Known = (None,) * len(machine.layers)
    parameters, rest = eqx.partition(machine, eqx.is_inexact_array)

    def weighted(parameters: Machine, places: Array, probability: Array) -> Array:
        return jnp.sum(probability * _log_weight(eqx.combine(parameters, rest), empty, split, grid, places)[0])

    def add(total: Machine, places: Array, inside: Array) -> Machine:
        log_weight = _log_weight(machine, empty, split, grid, places)[0]
        probability = jnp.where(inside, jnp.exp(log_weight - log_z), 0)
        moments: Machine = jax.tree.map(jnp.add, total, jax.grad(weighted)(parameters, places, probability))
        return moments

    zeros: Machine = jax.tree.map(jnp.zeros_like, parameters)
    return _over_list(grid, zeros, add)


@eqx.filter_jit
def _sample(key: Key[Array, ""], machine: Machine, split: Split, grid: tuple[Nodes, ...], n_samples: int) -> State:
    empty: Known = (None,) * len(machine.layers)
    count = _count(grid)
    place_key, joint_key, layer_key = jax.random.split(key, 3)
    log_weight = _log_weight(machine, empty, split, grid, jnp.arange(count))[0]
    cumulative = jnp.cumsum(jnp.exp(log_weight - log_weight.max()))
    uniform = jax.random.uniform(place_key, (n_samples,), cumulative.dtype)
    places = jnp.searchsorted(cumulative, uniform * cumulative[-1], side="right").clip(0, count - 1)
    arrays, _ = _configurations(machine, split, grid, places)
    state: list[Array | None] = [arrays.get(layer) for layer in range(len(machine.layers))]
    zeros = tuple(jnp.zeros((n_samples, *u.shape), u.bias.dtype) for u in machine.layers)
    if split.joint:
        field, factor, _ = _joint_normal(machine, split, tuple(state))
        field = jnp.broadcast_to(field, (n_samples, field.shape[-1]))
        noise = jax.random.normal(joint_key, field.shape, field.dtype)
        half = jax.scipy.linalg.solve_triangular(factor, field.T, lower=True) + noise.T
        drawn = jax.scipy.linalg.solve_triangular(factor.T, half, lower=False).T
        for layer in split.joint:
            state[layer], drawn = jnp.split(drawn, [machine.layers[layer].n], axis=1)
    full = tuple(z if x is None else x for x, z in zip(state, zeros, strict=True))
    for layer in (*split.closed, *(layer for layer in split.listed if machine.layers[layer].states() is None)):
        held = tuple(other != layer for other in range(len(full)))
        full, _ = gibbs.step(jax.random.fold_in(layer_key, layer), machine, full, held)
    return full
