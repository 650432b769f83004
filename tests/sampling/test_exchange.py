"""Replica exchange: every replica keeps its own distribution, swaps are frequent and even, and all modes are found."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, PAIRS, pair
from scipy import stats
from stationarity import check

import harmonium as hm
from harmonium.path import base_machine, between
from harmonium.sampling import exchange
from harmonium.sampling.tempering import FIRST

DRIFT, FULL = 0.02, 0.003
# False alarms: at most 3 sweep counts for each of 3 replicas, on every pair and graph, at two strengths and ladders.
FAMILY = 1e-6 / (3 * 3 * 2 * 2 * (len(PAIRS) + 2 * len(GRAPHS)))
slow = pytest.mark.prove


def _tempered(machine):
    """Three rungs, so far apart that a swap is neither rare nor sure."""
    ladder = hm.temperatures(machine, betas=[FIRST, 0.4, 1.0])
    return ladder, [*(between(ladder.base, machine, float(beta)) for beta in ladder.places[:2]), machine]


def _learned(machine):
    """Two machines before this one, as if it had been learned: weaker, and of other biases."""
    before = [base_machine(machine), machine.scaled(0.5)]
    ladder = hm.stages(before, 3)
    return ladder, [*before, machine]


def _check(machine, make, drift=DRIFT, **more):
    ladder, machines = make(machine)
    check(machine, drift=drift, false_alarm=FAMILY, sweeps=(1, 4), kernel=ladder, replicas=machines, **more)


QUICK = [(hm.Bernoulli, hm.Bernoulli), (hm.Gaussian, hm.Categorical)]
EVERY_PAIR = [
    pytest.param(units, marks=[] if units in QUICK else [slow], id="-".join(u.__name__ for u in units))
    for units in PAIRS
]
EVERY_GRAPH = [
    pytest.param(graph, marks=[] if name in ("general", "torus", "deep") else [slow], id=name)
    for name, graph in GRAPHS.items()
]


@pytest.mark.parametrize("units", EVERY_PAIR)
def test_tempering_keeps_every_replica_of_a_pair(units):
    _check(pair(*units, sizes=(2, 2), scale=1.5), _tempered)


@pytest.mark.parametrize("graph", EVERY_GRAPH)
def test_tempering_keeps_every_replica_of_a_graph(graph):
    _check(graph(), _tempered, most_cells=96)


@slow
@pytest.mark.parametrize("make", [_tempered, _learned])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_exchange_at_full_power(graph, make):
    _check(graph(), make, FULL, most_cells=96)


@pytest.mark.parametrize("graph", [pytest.param(g, marks=[] if n == "table" else [slow]) for n, g in GRAPHS.items()])
def test_stages_keep_every_replica_of_a_graph(graph):
    _check(graph(), _learned, most_cells=96)
