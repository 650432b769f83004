"""Objectives with a value: their gradient is that of the value, and a search along lines finds the true optimum."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, pair
from scipy import optimize

import harmonium as hm
from harmonium.learning import Batch, Contrastive, Exact, Likelihood, Penalties, Persistent, PseudoLikelihood
from harmonium.likelihood.pseudo import log_pseudolikelihood
from harmonium.training import Run, Schedule, optimiser
from harmonium.training.loop import update

pytestmark = pytest.mark.usefixtures("float64")

PENALTIES = Penalties(l2=0.3, l1=0.1, smoothing=0.2)
OBJECTIVES = {"likelihood": Likelihood(Exact(), PENALTIES, centred=False), "pseudo": PseudoLikelihood(PENALTIES)}
MACHINES = {"rbm": lambda: pair(hm.Bernoulli, hm.Gaussian, (4, 3), scale=0.5), "masked": GRAPHS["masked"]}
every_objective = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
every_machine = pytest.mark.parametrize("make", MACHINES.values(), ids=MACHINES)


def _batch(machine, n, full):
    visible = hm.exact.sample(hm.key(0), machine, n)[: machine.n_visible]
    return Batch(visible, jax.random.uniform(hm.key(1), (n,)) + 0.5, full)


def _started(objective, machine, batch):
    return objective.init(hm.key(2), machine, tuple(x.mean(axis=0) for x in batch.visible))


def _assert_equal(a, b, tolerance=1e-9):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@every_objective
@every_machine
def test_a_step_climbs_the_value(make, objective):
    """On a short batch, too: both keep its share."""
    machine = make()
    batch = _batch(machine, 5, 8.0)
    gradient = objective.step(hm.key(3), machine, _started(objective, machine, batch), batch)[0]
    _assert_equal(gradient, eqx.filter_grad(objective.value)(machine, batch))


@every_machine
def test_the_values_are_the_weighted_means_less_the_penalties(make):
    machine = make()
    batch = _batch(machine, 5, 8.0)
    known = (*batch.visible, None)
    penalty = sum(batch.weights) / 8 * PENALTIES.value(machine, known, batch.weights)
    rows = {
        "likelihood": hm.exact.log_probability(machine, known),
        "pseudo": log_pseudolikelihood(machine, batch.visible),
    }
    for name, objective in OBJECTIVES.items():
        wanted = sum(batch.weights * rows[name]) / 8 - penalty
        np.testing.assert_allclose(objective.value(machine, batch), wanted, rtol=1e-10)


def test_positive_parameters_step_in_their_logarithms():
    """A small step along the gradient raises the value by its squared length, and no precision falls below zero."""
    machine = pair(hm.Bernoulli, hm.Gaussian, (4, 3), scale=0.5)
    objective, batch = PseudoLikelihood(), _batch(machine, 6, 6.0)
    gradient, state = objective.step(hm.key(3), machine, _started(objective, machine, batch), batch)
    entered = objective.enter(machine, gradient, state)
    length = sum(jnp.vdot(g, g) for g in jax.tree.leaves(entered))

    def moved(size):
        step = jax.tree.map(lambda g: size * g, entered)
        return eqx.apply_updates(machine, objective.leave(machine, step, state))

    slope = (objective.value(moved(1e-5), batch) - objective.value(moved(-1e-5), batch)) / 2e-5
    np.testing.assert_allclose(slope, length, rtol=1e-6)
    assert (moved(1e6).layers[1].precision >= 0).all()


def _optimum(rows, weights, l2, pseudo):
    """Of four binary units that are all coupled, by SciPy: biases and couplings, from textbook formulas."""
    pairs = np.triu_indices(4, 1)
    states = np.array(list(itertools.product([0.0, 1.0], repeat=4)))

    def loss(theta):
        b, J = theta[:4], np.zeros((4, 4))
        J[pairs] = theta[4:]
        J = J + J.T
        penalty = l2 / 2 * np.sum(J**2)
        if pseudo:
            field = b + rows @ J
            return penalty - np.average((rows * field - np.logaddexp(0, field)).sum(axis=1), weights=weights)
        score = [x @ b + np.einsum("ni,ij,nj->n", x, J, x) / 2 for x in (rows, states)]
        return penalty - np.average(score[0], weights=weights) + np.log(np.sum(np.exp(score[1])))

    found = optimize.minimize(loss, np.zeros(10), method="BFGS", options={"gtol": 1e-9})
    J = np.zeros((4, 4))
    J[pairs] = found.x[4:]
    return found.x[:4], J + J.T, -found.fun


@every_objective
def test_a_search_along_lines_finds_the_optimum(objective):
    """Fully visible, so that both objectives are concave; with L-BFGS, as the training loop runs it."""
    objective = eqx.tree_at(lambda o: o.penalties, objective, Penalties(l2=0.01))
    rows = np.asarray(jax.random.bernoulli(hm.key(4), 0.4, (40, 4)), float)
    rows[:, 1] = np.where(rows[:, 3] > 0, rows[:, 0], rows[:, 1])
    batch = Batch((jnp.asarray(rows),), jnp.linspace(0.5, 1.5, 40), 40.0)
    run = Run(objective, optimiser("lbfgs", Schedule(1.0, 1)), lambda x: (x,), emphasis=None)
    machine = hm.boltzmann(hm.Bernoulli(4))
    state = run.start(hm.key(5), machine, (jnp.full(4, 0.5),))
    step = eqx.filter_jit(lambda state: update(run, state, batch))
    for _ in range(40):
        state = step(state)
    b, J, value = _optimum(rows, np.asarray(batch.weights), 0.01, isinstance(objective, PseudoLikelihood))
    np.testing.assert_allclose(objective.value(state.model, batch), value, rtol=1e-10)
    np.testing.assert_allclose(state.model.layers[0].bias, b, atol=1e-5)
    np.testing.assert_allclose(state.model.couplings[0].matrix(), J, atol=1e-5)


@pytest.mark.parametrize("negative", [Contrastive(), Persistent(5)], ids=["CD", "PCD"])
def test_phases_without_a_partition_function_have_no_value(negative):
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    with pytest.raises(hm.ArgumentError, match=f"negative: found {type(negative).__name__}, .*wanted Exact"):
        Likelihood(negative).value(machine, _batch(machine, 5, 5.0))


def test_continuous_data_have_no_pseudo_likelihood():
    machine = pair(hm.Gaussian, hm.Bernoulli, (3, 2))
    with pytest.raises(hm.ArgumentError, match="machine: found Gaussian units"):
        PseudoLikelihood().init(hm.key(0), machine, (jnp.zeros(3),))


def test_the_sizes_watched_are_the_inputs_of_the_hidden_units():
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    batch = _batch(machine, 5, 5.0)
    largest = np.abs(np.asarray(batch.visible[0]) @ np.asarray(machine.couplings[0].weights)).max()
    for objective in OBJECTIVES.values():
        ((name, size),) = objective.magnitudes(machine, batch).items()
        assert name == "the inputs of layer 'hidden'"
        np.testing.assert_allclose(size, largest)
