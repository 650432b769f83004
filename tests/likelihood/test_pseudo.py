"""The pseudo-likelihood against its definition: every conditional, by enumeration of the joint distribution."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from catalogue import GRAPHS, pair, symmetric

import harmonium as hm
from harmonium.likelihood import pseudo
from harmonium.likelihood.pseudo import log_pseudolikelihood
from harmonium.machine import Machine
from harmonium.sampling import gibbs

pytestmark = pytest.mark.usefixtures("float64")


def _several():
    """Two visible layers, coupled to each other and one within; three hidden ones; weights given from either side."""
    k = jax.random.split(hm.key(8), 10)
    normal = jax.random.normal
    return Machine(
        {
            "binary": hm.Bernoulli.random(k[0], 3),
            "choice": hm.Categorical.random(k[1], 2),
            "spins": hm.Spin.random(k[2], 2),
            "real": hm.Gaussian.random(k[3], 2),
            "label": hm.Categorical.random(k[4], 1),
        },
        {
            ("binary", "binary"): hm.Within(symmetric(k[5], 3)),
            ("choice", "binary"): hm.Dense(normal(k[6], (2, 3, 3))),
            ("spins", "binary"): hm.Dense(normal(k[7], (2, 3)), np.array([[1, 0, 1], [1, 1, 0]])),
            ("choice", "real"): hm.Dense(normal(k[8], (2, 3, 2))),
            ("label", "choice"): hm.Dense(normal(k[9], (1, 3, 2, 3))),
        },
        visible=("binary", "choice"),
    )


MACHINES = {
    "Bernoulli-Bernoulli": lambda: pair(hm.Bernoulli, hm.Bernoulli, (3, 2)),
    "Spin-Gaussian": lambda: pair(hm.Spin, hm.Gaussian, (3, 2)),
    "Categorical-Binomial": lambda: pair(hm.Categorical, hm.Binomial, (2, 2)),
    "several": _several,
    **{name: GRAPHS[name] for name in ("torus", "potts", "masked")},
}
every_machine = pytest.mark.parametrize("make", MACHINES.values(), ids=MACHINES)


def _visible(machine, n, seed=3):
    return gibbs.init(hm.key(seed), machine, n)[: machine.n_visible]


def _log_weight(machine, visible):
    return -machine.free_energy((*visible, *[None] * (len(machine.layers) - machine.n_visible)))


def _definition(machine, visible):
    """Σᵢ log p(vᵢ | v₋ᵢ), each from the weights of all rows that differ in unit i only; only for rows of states."""
    total = 0.0
    for layer, x in enumerate(visible):
        for i in range(machine.layers[layer].n):
            changed = [
                (*visible[:layer], x.at[:, i].set(s), *visible[layer + 1 :]) for s in machine.layers[layer].states()
            ]
            logs = jnp.stack([_log_weight(machine, rows) for rows in changed])
            total = total + _log_weight(machine, visible) - jax.nn.logsumexp(logs, axis=0)
    return total


@every_machine
def test_every_conditional_counts_once(make):
    """Value and gradient."""
    machine = make()
    visible = _visible(machine, 7)
    weights = jnp.linspace(0.5, 1.5, 7)

    def both(of):
        return eqx.filter_jit(eqx.filter_value_and_grad(lambda m: jnp.sum(weights * of(m, visible))))(machine)

    (value, gradient), (wanted, slope) = both(log_pseudolikelihood), both(_definition)
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(slope), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["torus", "masked"])
def test_conditionals_of_the_exact_joint(name):
    """Every row there is, against sums over the textbook's energies that share no formula with the package."""
    machine = GRAPHS[name]()
    states, energies = oracle.joint(machine)
    joint: dict[tuple, list] = {}
    for state, energy in zip(states, energies, strict=True):
        joint.setdefault(tuple(state[0]), []).append(-energy)
    log_p = {v: oracle.log_sum_exp(np.array(terms)) for v, terms in joint.items()}
    values = oracle.values(machine.layers[0])
    rows = list(itertools.product(values, repeat=machine.layers[0].n))
    wanted = [
        sum(
            log_p[row] - oracle.log_sum_exp(np.array([log_p[(*row[:i], s, *row[i + 1 :])] for s in values]))
            for i in range(len(row))
        )
        for row in rows
    ]
    np.testing.assert_allclose(log_pseudolikelihood(machine, (jnp.array(rows),)), np.array(wanted, float), rtol=1e-10)


def test_values_between_states_are_chances():
    """Bernoulli: Σᵢ xᵢ log p(1 | x₋ᵢ) + (1 - xᵢ) log p(0 | x₋ᵢ), with x₋ᵢ as it is. Rows beside it stay as they are."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    x = jax.random.uniform(hm.key(1), (6, 4)).at[:3].set(jnp.round(jax.random.uniform(hm.key(2), (3, 4))))
    wanted = 0.0
    for i in range(4):
        off, on = (_log_weight(machine, (x.at[:, i].set(s),)) for s in (0.0, 1.0))
        wanted = wanted + x[:, i] * on + (1 - x[:, i]) * off - jnp.logaddexp(on, off)
    found = log_pseudolikelihood(machine, (x,))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    np.testing.assert_allclose(log_pseudolikelihood(machine, (x[:3],)), found[:3], rtol=1e-10)


def test_rows_in_chunks_are_rows(monkeypatch):
    machine = pair(hm.Bernoulli, hm.Spin, (4, 3))
    visible = _visible(machine, 10)
    halves = [log_pseudolikelihood(machine, (half,)) for half in jnp.split(visible[0], 2)]
    monkeypatch.setattr(pseudo, "CHUNK", 35)  # three rows at once: the last chunk is short
    np.testing.assert_allclose(log_pseudolikelihood(machine, visible), jnp.concatenate(halves), rtol=1e-12)


def test_single_precision_keeps_the_digits_that_count():
    machine = pair(hm.Bernoulli, hm.Bernoulli, (64, 64), scale=0.3)
    visible = _visible(machine, 50)
    single, rows = jax.tree.map(
        lambda a: a.astype(jnp.float32) if eqx.is_inexact_array(a) else a, (machine, visible), is_leaf=eqx.is_array
    )
    found = log_pseudolikelihood(single, rows)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, log_pseudolikelihood(machine, visible), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pair(hm.Gaussian, hm.Bernoulli, (3, 2)), "machine: found Gaussian units in 'visible'; wanted"),
        (GRAPHS["deep"], "machine: found a coupling hidden1-hidden2 among hidden units"),
        (GRAPHS["general"], "machine: found a coupling hidden-hidden"),
        (
            lambda: pair(hm.Bernoulli, hm.Bernoulli, (4, 2)),
            r"visible: found rows of shapes \[\(3,\)\]; wanted \[\(4,\)",
        ),
    ],
    ids=["continuous", "deep", "within", "shape"],
)
def test_what_has_no_such_sum_is_refused(make, message):
    with pytest.raises(hm.ArgumentError, match=message):
        log_pseudolikelihood(make(), (jnp.zeros((2, 3)),))
