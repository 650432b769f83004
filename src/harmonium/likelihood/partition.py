r"""log Z of a machine as an interval: exact where it takes few configurations, else annealed, up and down.

Weights of chains on their way up give the estimate. Alone they cannot say what they miss: if no chain finds a mode,
all agree. Chains on their way down, from places that were not found on the way up, can: where x is a place to which the
way up leads with probability a(x), but which has p(x) in the machine, -log w is too high by log p(x)/a(x). These places
are the chains of the caller (rows of data, chains of the training or of another sampler; else ends of the way up, drawn
by their weights), and, for one half, configurations far apart from each other.
"""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from harmonium.errors import ArgumentError
from harmonium.likelihood import annealed, exact
from harmonium.likelihood.annealed import Path
from harmonium.likelihood.interval import AGREE, Interval
from harmonium.likelihood.verdict import SIGMA, judged
from harmonium.machine import Machine, State
from harmonium.path import base_machine
from harmonium.sampling import Moments, gibbs, run
from harmonium.units.unit import Values

MAX_WORK = 2**30
"""States listed, times units summed in closed form for each, in an exact answer: some seconds."""

BUDGET = 4_000_000
"""Sweeps of one chain that a user is made to wait for at most: a minute for 784 × 500 units on two cores."""

CHAINS = 64
"""Chains that run together."""

FIRST = 500
"""Temperatures of the first look."""

LogWeights = Float[np.ndarray, "chain stretches"]


def log_partition(
    machine: Machine,
    key: Key[Array, ""],
    means: Sequence[Values] | None = None,
    *,
    chains: Sequence[Values] | None = None,
    width: float = 0.5,
    budget: int = BUDGET,
) -> Interval:
    """log Z, exact if that takes at most ``MAX_WORK``, else annealed until ``width`` is reached or the budget spent.

    ``means``, those of the visible layers in the data, make a better base. ``chains`` are where chains start on their
    way down: an array for each visible layer, or for each layer, a row a chain. The ``budget`` counts sweeps of one
    chain, ``CHAINS`` of which run together.

    >>> import harmonium as hm
    >>> log_partition(hm.rbm(hm.Bernoulli(3), hm.Bernoulli(2)), hm.key(0)).verdict
    'agree'
    """
    for name, value, least in (("width", width, 0), ("budget", budget, _cost(1))):
        if not value >= least:
            raise ArgumentError(name, f"{value}", f"at least {least}")
    if exact.work(machine) <= MAX_WORK:
        return Interval.exact(float(exact.log_partition(machine, MAX_WORK)))
    path = annealed.path_to(machine, base_machine(machine, means))
    given = None if chains is None else _states(machine, chains)
    n_steps, left = min(FIRST, _affordable(budget)), budget
    rounds: list[Round] = []
    while True:
        key, own = jax.random.split(key)
        rounds.append(_round(own, path, given, n_steps))
        left -= _cost(n_steps)
        up, down = (np.concatenate(parts) for parts in zip(*rounds, strict=True))
        found = judged(up.sum(axis=1), down.sum(axis=1))
        if not isfinite(found.estimate) or (found.verdict == AGREE and found.width <= width):
            return found
        longer = _longer(n_steps, up, down, width, left)
        if longer > n_steps:
            path, n_steps, rounds = steadier(path, up, down), longer, []
        elif _cost(n_steps) > left:
            return found


class Round(NamedTuple):
    """Log weights of chains on their ways up and down, stretch by stretch."""

    up: LogWeights
    down: LogWeights


def steadier(path: Path, up: LogWeights, down: LogWeights) -> Path:
    """The path with steps where the variance of log w arises: with shares s of them its sum Σc/s is least for s ∝ √c.

    c of a stretch is its covariance with all of log w and also, near equilibrium, the mean of log w up less that of
    -log w down; both are noisy.
    """
    total = up.sum(axis=1)
    covariance = (up - up.mean(axis=0)).T @ (total - total.mean()) / len(up)
    # What both hold of log Z₀ cancels.
    c = np.maximum(covariance - down.mean(axis=0) - up.mean(axis=0), 0)
    c = np.convolve(np.pad(c, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    shares = np.sqrt(c + 0.05 * c.mean() + 1e-12)
    u = np.linspace(0, 1, len(path.ladder))
    stretch = np.linspace(0, 1, annealed.STRETCHES + 1)
    beta_at = np.interp(stretch, u, np.asarray(path.ladder, float))
    reached = np.append(0, np.cumsum(shares) / shares.sum())
    return annealed.path_to(path.machine, path.base, np.interp(stretch, reached, beta_at))


def _round(key: Key[Array, ""], path: Path, given: State | None, n_steps: int) -> Round:
    start_key, up_key, pick_key, run_key, down_key = jax.random.split(key, 5)
    steps = jnp.asarray(n_steps)
    start = gibbs.init(start_key, path.base, CHAINS)
    up, ends = annealed.anneal(up_key, path, start, steps, jnp.asarray(False))
    half = CHAINS // 2
    source, weight = (ends, up.sum(axis=1)) if given is None else (given, jnp.zeros(len(given[0])))
    rows = jax.random.categorical(pick_key, weight, shape=(half,))
    if given is not None and len(given[0]) >= half:
        rows = jax.random.permutation(pick_key, len(given[0]))[:half]
    strewn = scattered(jax.random.fold_in(pick_key, 1), path.machine, half)
    first = tuple(jnp.concatenate([x[rows], far]) for x, far in zip(source, strewn, strict=True))
    places, _ = run(run_key, path.machine, first, Moments(), 1, warm_up=_warm_up(n_steps))
    down, _ = annealed.anneal(down_key, path, places, steps, jnp.asarray(True))
    return Round(np.asarray(up, float), np.asarray(down, float))


@eqx.filter_jit
def scattered(key: Key[Array, ""], machine: Machine, n: int) -> State:
    """Configurations far apart: in each, every layer has a level of its own, from low to high.

    In every other one the layers that are usually drawn last are then drawn first, given such hidden units: a mode that
    no visible configuration leads to may have a hidden unit of its own.
    """
    state: State = ()
    for layer, unit in enumerate(machine.layers):
        level_key, draw_key = jax.random.split(jax.random.fold_in(key, layer))
        one = unit.shape[1:] if unit.one_hot else ()
        level = 2 * jax.random.normal(level_key, (n, 1, *one), unit.bias.dtype)
        state = (*state, unit.neutral().sample(draw_key, jnp.broadcast_to(level, (n, *unit.shape))))
    after, _ = gibbs.step(jax.random.fold_in(key, len(state)), machine, state, order=machine.order[::-1])
    return tuple(jnp.concatenate([x[::2], y[1::2]]) for x, y in zip(state, after, strict=True))


def _states(machine: Machine, chains: Sequence[Values]) -> State:
    """Chains as whole configurations; layers that are not given start at zero, and are drawn given the others."""
    if len(chains) not in (machine.n_visible, len(machine.layers)):
        found, wanted = f"{len(chains)} arrays", f"one for each visible layer ({machine.n_visible}), or for each layer"
        raise ArgumentError("chains", found, wanted)
    state = [jnp.asarray(x, unit.bias.dtype) for x, unit in zip(chains, machine.layers, strict=False)]
    n = len(state[0]) if state[0].ndim else 0
    for x, unit, name in zip(state, machine.layers, machine.names, strict=False):
        if n == 0 or x.shape != (n, *unit.shape):
            raise ArgumentError(
                "chains", f"shape {x.shape} for {name!r}", f"(chains, {', '.join(map(str, unit.shape))})"
            )
    rest = machine.layers[len(state) :]
    return (*state, *(jnp.zeros((n, *unit.shape), unit.bias.dtype) for unit in rest))


def _longer(n_steps: int, up: LogWeights, down: LogWeights, width: float, left: int) -> int:
    """The steps of the next round: as many as now, or as bring one round of chains to the width if the budget has them.

    ⟨log w⟩ differs between up and down by about its variance v, which falls as one over the number of steps, and the
    squared standard error is (e^v - 1)/CHAINS for normal log w. More chains of the same steps are worth less. Far from
    equilibrium v says too little: the aim is four fifths of the width.
    """
    v = float(-down.sum(axis=1).mean() - up.sum(axis=1).mean())
    wanted = n_steps * np.clip(v / max(np.log1p(CHAINS * (0.8 * width / (2 * SIGMA)) ** 2), 1e-3), 1, 32)
    longer = min(int(wanted), _affordable(left))
    return longer if longer >= 1.5 * n_steps else n_steps


def _cost(n_steps: int) -> int:
    """Sweeps of a round: up, down, and before that a tenth as many to leave the start."""
    return CHAINS * (2 * n_steps + _warm_up(n_steps))


def _warm_up(n_steps: int) -> int:
    return 1 + n_steps // 10


def _affordable(budget: int) -> int:
    """The steps of a round that costs no more."""
    return max(1, (budget // CHAINS - 1) * 10 // 21)
