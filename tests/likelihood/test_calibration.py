"""Intervals of log Z on many random machines that can be listed: as often right as they say.

Of 1,000 normal draws 2.7 are farther than three standard errors; weights are not quite normal, and 13 allow for that.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, PAIRS, continuous, pair

import harmonium as hm
from harmonium.likelihood import annealed
from harmonium.likelihood.interval import AGREE
from harmonium.likelihood.verdict import judged
from harmonium.sampling import gibbs

pytestmark = pytest.mark.usefixtures("float64")

CHAINS, TEMPERATURES = 256, 200


class Outcome(NamedTuple):
    """Of one machine: mean weight over Z with its standard error, and how log Z lies to the interval."""

    ratio: float
    error: float
    z: float
    inside: bool
    agrees: bool


def random_pair(units, seed):
    both = continuous(units[0]) and continuous(units[1])
    return pair(*units, sizes=(2, 1) if both else (4, 3), scale=0.7, seed=seed)


def random_graph(make, seed):
    """Other biases, and couplings that are weaker by other factors: what can be normalised stays so."""
    chance = np.random.default_rng(seed)

    def changed(path, p):
        if not eqx.is_inexact_array(p):
            return p
        if path[-1].name == "bias":
            return p + 0.5 * chance.normal(size=p.shape)
        return p * chance.uniform(-1, 1, p.shape) if path[-1].name == "weights" else p

    return jax.tree_util.tree_map_with_path(changed, make())


def outcomes(machines):
    """Many machines of one shape annealed at once, up from their bases and down from exact draws."""
    starts = [hm.exact.sample(hm.key(1), machine, CHAINS) for machine in machines]
    exact = [float(hm.exact.log_partition(machine)) for machine in machines]
    arrays, rest = zip(*(eqx.partition(machine, eqx.is_array) for machine in machines), strict=True)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays)
    keys = jax.random.split(jax.random.key(0), len(machines))

    @jax.jit
    @jax.vmap
    def run(key, arrays, places):
        path = annealed.path_to(eqx.combine(arrays, rest[0]))
        first, up, down = jax.random.split(key, 3)
        steps = jnp.asarray(TEMPERATURES)
        start = gibbs.init(first, path.base, CHAINS)
        return [
            annealed.anneal(k, path, s, steps, jnp.asarray(d))[0].sum(axis=1)
            for k, s, d in ((up, start, False), (down, places, True))
        ]

    ups, downs = (np.asarray(x) for x in run(keys, stacked, jax.tree.map(lambda *x: jnp.stack(x), *starts)))
    return [_outcome(*weights) for weights in zip(ups, downs, exact, strict=True)]


def _outcome(up, down, exact):
    found = judged(up, down)
    w = np.exp(up - exact)
    return Outcome(
        w.mean(),
        w.std(ddof=1) / np.sqrt(len(w)),
        (found.estimate - exact) / found.standard_error,
        found.lower <= exact <= found.upper,
        found.verdict == AGREE,
    )


def _assert_pooled_mean_is_one(found):
    """Weighted by what each is worth; the floor stands for machines whose every weight is Z."""
    ratio, error = (np.array([getattr(one, name) for one in found]) for name in ("ratio", "error"))
    worth = 1 / (error**2 + 1e-6)
    mean = np.average(ratio, weights=worth)
    assert abs(mean - 1) < 5 * np.sqrt(np.sum((worth * error) ** 2)) / worth.sum()


@pytest.mark.parametrize("units", [(hm.Bernoulli, hm.Bernoulli), (hm.Gaussian, hm.Spin)])
def test_a_few_machines(units):
    """False alarms: below 1e-4 for each count."""
    found = outcomes([random_pair(units, seed) for seed in range(60)])
    _assert_pooled_mean_is_one(found)
    assert sum(abs(one.z) > 3 for one in found) <= 3
    assert sum(one.inside for one in found) >= 57
    assert sum(abs(one.z) < 1.96 for one in found) >= 48
    assert all(one.agrees for one in found)


@pytest.mark.prove
def test_a_thousand_machines():
    found = []
    for units in PAIRS:
        found += outcomes([random_pair(units, seed) for seed in range(14)])
    for make in GRAPHS.values():
        found += outcomes([random_graph(make, seed) for seed in range(45)])
    assert len(found) >= 1000
    _assert_pooled_mean_is_one(found)
    z = np.array([one.z for one in found])
    assert np.sum(np.abs(z) > 3) <= 13 * len(found) / 1000
    assert 0.925 < np.mean(np.abs(z) < 1.96) < 0.975
    assert np.mean([one.inside for one in found]) >= 0.995
    assert np.mean([one.agrees for one in found]) >= 0.99
