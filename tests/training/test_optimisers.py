"""Every optimiser is the optax transformation of its name, at the rates of the schedule; L-BFGS finds optima."""

import bowl
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import harmonium as hm
from harmonium.data import Batches, read
from harmonium.learning import Exact, Likelihood, PseudoLikelihood
from harmonium.machine import Machine
from harmonium.training import Run, Schedule, optimiser
from harmonium.training.loop import chunks
from harmonium.training.optimisers import NAMES

BY_HAND = {
    "sgd": optax.sgd,
    "momentum": lambda rate: optax.sgd(rate, momentum=0.9),
    "nesterov": lambda rate: optax.sgd(rate, momentum=0.9, nesterov=True),
    "adagrad": optax.adagrad,
    "rmsprop": optax.rmsprop,
    "adam": optax.adam,
}


def _run(run, start, batches, n):
    *_, state = chunks(run, start, batches, n, n)
    return state.model


def _by_hand(transformation, batches, n):
    """The descent of ½(1/B)Σ wᵢ|xᵢ - place|² and of -½ size², as a user of optax writes it."""
    model = bowl.point(0.3)
    state = transformation.init(model)
    for t in range(n):
        (x,), (w,) = batches.chunk(t, 1)
        gradient = bowl.Point(jnp.asarray(-w @ (x - np.asarray(model.place)) / batches.batch_size), -model.size)
        updates, state = transformation.update(gradient, state, model)
        model = optax.apply_updates(model, updates)
    return model


def _assert_equal(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", BY_HAND)
def test_every_name_is_that_of_optax(name):
    """With a rate that falls, given to optax as a schedule of its own."""
    batches = bowl.batches(bowl.rows(10))
    run, start = bowl.begun(name, rate=0.2, n_updates=8, shape="linear", model=bowl.point(0.3))
    _assert_equal(_run(run, start, batches, 6), _by_hand(BY_HAND[name](lambda t: 0.2 * (1 - t / 8)), batches, 6))


def test_every_name_is_tested():
    assert {*BY_HAND, "lbfgs"} == set(NAMES)


def test_a_transformation_of_ones_own_is_multiplied_by_the_rate():
    """This one asks where the parameters are, too."""
    made = optax.chain(optax.add_decayed_weights(0.1), optax.scale(-2.0))
    batches = bowl.batches(bowl.rows(10))
    run, start = bowl.begun(made, rate=0.25, model=bowl.point(0.3))
    half = optax.chain(optax.add_decayed_weights(0.1), optax.scale(-0.5))
    _assert_equal(_run(run, start, batches, 6), _by_hand(half, batches, 6))


def test_unknown_names_are_refused():
    with pytest.raises(hm.ArgumentError, match="optimizer: found 'sdg'; wanted one of sgd, momentum"):
        optimiser("sdg", Schedule(0.1, 10))


def _searched(objective, machine, rows, weights=None):
    """All rows at once, 200 searches along a line: most of them at the optimum, where they must stay."""
    run = Run(objective, optimiser("lbfgs", Schedule(1.0, 200)), bowl.as_they_are, emphasis=None)
    batches = Batches(read(rows, dtype="float64"), len(rows), 0, weights)
    return _run(run, run.start(hm.key(0), machine, (jnp.asarray(rows.mean(axis=0)),)), batches, 200)


@pytest.mark.usefixtures("float64")
def test_lbfgs_fits_means_and_variances():
    """Gaussian units left alone, whose precisions are searched in their logarithms: the fit is in closed form."""
    rng = np.random.default_rng(0)
    rows, weights = rng.normal([3.0, -1.0], [2.0, 0.1], (50, 2)), rng.uniform(0.5, 2.0, 50)
    machine = Machine({"visible": hm.Gaussian(2)}, {})
    unit = _searched(Likelihood(Exact(), centred=False), machine, rows, weights).layers[0]
    mean = np.average(rows, axis=0, weights=weights)
    variance = np.average((rows - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(unit.precision, 1 / variance, rtol=1e-5)
    np.testing.assert_allclose(unit.bias, mean / variance, rtol=1e-5)


@pytest.mark.usefixtures("float64")
def test_lbfgs_fits_every_conditional():
    """At the optimum of the pseudo-likelihood its textbook gradient vanishes: Σ (xᵢ - pᵢ) = 0, and for each pair."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (60, 3)).astype(float)
    rows[:, 2] = np.where(rng.random(60) < 0.7, rows[:, 0], rows[:, 2])
    machine = _searched(PseudoLikelihood(), hm.boltzmann(hm.Bernoulli(3)), rows)
    J = np.asarray(machine.couplings[0].matrix())
    residual = rows - 1 / (1 + np.exp(-(rows @ J + np.asarray(machine.layers[0].bias))))
    np.testing.assert_allclose(residual.mean(axis=0), 0, atol=1e-6)
    pairs = rows.T @ residual / len(rows)
    np.testing.assert_allclose(pairs + pairs.T - 2 * np.diag(np.diag(pairs)), 0, atol=1e-6)
    assert abs(J).max() > 0.5
