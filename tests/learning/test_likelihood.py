"""The gradient of the log-likelihood: equal to enumeration where exact, right on average where sampled."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, pair
from scipy import stats

import harmonium as hm
from harmonium.gauge import Gauge
from harmonium.learning import Contrastive, Exact, Likelihood, Penalties, Persistent, Tempered
from harmonium.learning.likelihood import Batch
from harmonium.path import between

pytestmark = pytest.mark.usefixtures("float64")

MACHINES = {
    "rbm": lambda: pair(hm.Bernoulli, hm.Bernoulli, (4, 3)),
    "gaussian-spin": lambda: pair(hm.Gaussian, hm.Spin, (3, 2)),
    "table": GRAPHS["table"],
    "masked": GRAPHS["masked"],
}
SAMPLED = {"CD": Contrastive(3), "PCD": Persistent(256, 3), "PT": Tempered(256, 3, 3)}
every_machine = pytest.mark.parametrize("make", MACHINES.values(), ids=MACHINES)


def _data(machine, n, seed=0):
    """Rows from the machine itself and weights of mean one."""
    state = hm.exact.sample(hm.key(seed), machine, n)
    weights = jax.random.uniform(hm.key(seed + 1), (n,)) + 0.5
    return state[: machine.n_visible], weights / weights.mean()


def _means(machine, visible):
    return tuple(x.mean(axis=0) for x in visible)


def _gradient(objective, machine, visible, weights, full, key=None):
    state = objective.init(hm.key(5), machine, _means(machine, visible))
    return objective.step(hm.key(6) if key is None else key, machine, state, Batch(visible, weights, full))[0]


def _assert_equal(a, b, tolerance=1e-10):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@every_machine
def test_exact_phases_give_the_gradient_of_the_weighted_log_likelihood(make):
    machine = make()
    visible, weights = _data(machine, 9)

    def log_likelihood(machine):
        known = visible + (None,) * (len(machine.layers) - machine.n_visible)
        return jnp.sum(weights * hm.exact.log_probability(machine, known)) / 9

    found = _gradient(Likelihood(Exact()), machine, visible, weights, 9.0)
    _assert_equal(found, eqx.filter_grad(log_likelihood)(machine))


@pytest.mark.parametrize("n", [1, 3, 4, 6, 7])
@every_machine
def test_batches_of_an_epoch_add_up_to_the_full_gradient(make, n):
    """Batches of 4, the last one padded with weight zero: short or not, (B/n) times their sum is the full gradient.

    This is what scikit-learn's BernoulliRBM gets wrong: there a batch of r rows tends to r/B times the data's mean.
    """
    machine = make()
    visible, weights = _data(machine, n)
    objective, size = Likelihood(Exact()), 4
    whole = _gradient(objective, machine, visible, weights, float(n))
    total = None
    for start in range(0, n, size):
        rows = np.arange(start, start + size)
        inside = rows < n
        part = tuple(x[np.where(inside, rows, 0)] for x in visible)
        w = jnp.where(jnp.asarray(inside), weights[np.where(inside, rows, 0)], 0)
        gradient = _gradient(objective, machine, part, w, float(size))
        total = gradient if total is None else jax.tree.map(jnp.add, total, gradient)
    _assert_equal(jax.tree.map(lambda g: g * size / n, total), whole)


@pytest.mark.parametrize("negative", [Contrastive(2), Persistent(64, 2)], ids=["CD", "PCD"])
@every_machine
def test_padding_with_rows_of_weight_zero_changes_nothing_but_the_share(make, negative):
    """The short batch divided by the full weight is (r/B) times the same batch divided by its own."""
    machine = make()
    visible, weights = _data(machine, 6)
    weights = weights / weights.mean()
    padded = tuple(jnp.concatenate([x, x[:2]]) for x in visible)
    short = _gradient(Likelihood(negative), machine, padded, jnp.concatenate([weights, jnp.zeros(2)]), 8.0)
    own = _gradient(Likelihood(negative), machine, visible, weights, 6.0)
    _assert_equal(short, jax.tree.map(lambda g: g * 6 / 8, own), 1e-9)


def _at_home(negative, machine, n):
    """What the phase carries, n times over, with chains that are exact draws; and those of the machine itself."""
    size = 256 * n
    states = hm.exact.sample(hm.key(1), machine, size)
    if isinstance(negative, Contrastive):
        return None, states
    if isinstance(negative, Persistent):
        return _parts(states, n), states
    ladder = negative.init(hm.key(0), machine)[0]
    below = [
        hm.exact.sample(jax.random.fold_in(hm.key(3), r), between(ladder.base, machine, beta), size)
        for r, beta in enumerate(ladder.places[:-1])
    ]
    replicas = [_parts(state, n) for state in (*below, states)]
    rows = tuple(jnp.concatenate(layer, axis=1) for layer in zip(*replicas, strict=True))
    repeated = jax.tree.map(lambda x: jnp.stack([x] * n), eqx.filter(ladder, eqx.is_array))
    return (eqx.combine(repeated, ladder), rows, jnp.zeros(n, jnp.int32)), states


def _parts(state, n):
    return tuple(x.reshape(n, -1, *x.shape[1:]) for x in state)


@pytest.mark.parametrize("negative", SAMPLED.values(), ids=SAMPLED)
@every_machine
def test_sampled_negative_phases_are_unbiased_at_home(make, negative):
    """From exact draws CD, PCD and PT estimate ⟨-∂E/∂θ⟩ in the model without bias: Student's t, false alarms 1e-9."""
    machine = make()
    exact = hm.exact.statistics(machine)

    @eqx.filter_jit
    def estimates(keys, chains, states):
        def one(key, chains, state):
            batch = Batch(state[: machine.n_visible], jnp.ones(256), 256.0)
            return negative.step(key, machine, chains, batch)[0]

        return eqx.filter_vmap(one)(keys, chains, states)

    chains, states = _at_home(negative, machine, 400)
    found = estimates(jax.random.split(hm.key(2), 400), chains, _parts(states, 400))
    comparisons = sum(leaf.size for leaf in jax.tree.leaves(exact))
    for sample, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(exact), strict=True):
        error = sample.std(axis=0, ddof=1) / 20 + 1e-12
        worst = float(jnp.max(jnp.abs(sample.mean(axis=0) - wanted) / error))
        assert worst < stats.t.isf(1e-9 / comparisons / 2, 399)


@pytest.mark.parametrize("n_chains", [5, 7])
def test_persistent_chains_are_their_own_and_go_on(n_chains):
    """Their number need not be the batch's; a step moves them from where they were, not from the data."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    visible, weights = _data(machine, 5)
    objective = Likelihood(Persistent(n_chains))
    state = objective.init(hm.key(1), machine, _means(machine, visible))
    batch = Batch(visible, weights, 5.0)
    other = Batch(tuple(1 - x for x in visible), weights, 5.0)
    _, (chains, _) = objective.step(hm.key(2), machine, state, batch)
    _, (same, _) = objective.step(hm.key(2), machine, state, other)
    assert all(len(x) == n_chains for x in chains)
    for a, b in zip(chains, same, strict=True):
        np.testing.assert_array_equal(a, b)
    moved = objective.step(hm.key(3), machine, (chains, state[1]), batch)[1][0]
    assert any((a != b).any() for a, b in zip(chains, moved, strict=True))


def test_persistent_chains_stay_in_the_mode_they_are_in():
    """All units on, or all off: the machine leaves either with a probability of e⁻¹⁰, and fresh chains are in none."""
    machine = hm.rbm(hm.Bernoulli(np.full(4, -30.0)), hm.Bernoulli(np.full(3, -40.0)), np.full((4, 3), 20.0))
    batch = Batch((jnp.full((6, 4), 0.5),), jnp.ones(6), 6.0)
    negative = Persistent(10, 5)
    for mode in (0.0, 1.0):
        chains = (jnp.full((10, 4), mode), jnp.full((10, 3), mode))
        found, after = negative.step(hm.key(0), machine, chains, batch)
        for x, y in zip(chains, after, strict=True):
            np.testing.assert_array_equal(x, y)
        np.testing.assert_allclose(found.couplings[0].weights, np.full((4, 3), mode), atol=1e-3)


def test_the_centred_gradient_is_the_textbook_s():
    """⟨(v-μ)(h-λ)ᵀ⟩ in the data less that in the model, over all states; steps of b and c have -ΔWλ and -ΔWᵀμ in them.

    Melchior, Fischer & Wiskott 2016, algorithm 1.
    """
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    (v,), weights = _data(machine, 9)
    mu, lam = np.array([0.1, 0.5, 0.8, 0.3]), np.array([0.2, 0.6, 0.4])
    centred = Likelihood(Exact())
    state = None, Gauge.centred(machine, (jnp.asarray(mu), jnp.asarray(lam)))
    plain, _ = centred.step(hm.key(1), machine, state, Batch((v,), weights, 9.0))
    found = centred.enter(machine, plain, state)
    states = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    p = np.exp(hm.exact.log_probability(machine, (jnp.asarray(states), None)))
    W, c = np.asarray(machine.couplings[0].weights), np.asarray(machine.layers[1].bias)

    def moment(rows, chances):
        h = 1 / (1 + np.exp(-(rows @ W + c)))
        return (rows - mu).T @ (chances[:, None] * (h - lam))

    np.testing.assert_allclose(
        found.couplings[0].weights, moment(np.asarray(v), np.asarray(weights) / 9) - moment(states, p), rtol=1e-9
    )
    step = centred.leave(machine, found, state)
    dW = np.asarray(step.couplings[0].weights)
    np.testing.assert_allclose(step.layers[0].bias, found.layers[0].bias - dW @ lam, rtol=1e-9)
    np.testing.assert_allclose(step.layers[1].bias, found.layers[1].bias - mu @ dW, rtol=1e-9)


def test_the_centred_update_does_not_depend_on_what_is_called_zero():
    """Flip a visible unit's 0 and 1 (b → -b, W → -W, hidden biases absorb): the updated machines are flips again."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    visible, weights = _data(machine, 20)
    flip = jnp.array([1.0, 0, 1, 0])

    def flipped(machine):
        a, b, w = machine.layers[0].bias, machine.layers[1].bias, machine.couplings[0].weights
        sign = 1 - 2 * flip
        return hm.rbm(hm.Bernoulli(sign * a), hm.Bernoulli(b + flip @ w), sign[:, None] * w)

    def updated(machine, v, centred):
        objective = Likelihood(Exact(), centred=centred)
        state = objective.init(hm.key(1), machine, (v.mean(axis=0),))
        gradient, after = objective.step(hm.key(2), machine, state, Batch((v,), weights, 20.0))
        step = objective.leave(machine, objective.enter(machine, gradient, after), after)
        return eqx.apply_updates(machine, jax.tree.map(lambda g: 0.5 * g, step))

    v = visible[0]
    other = jnp.where(flip[None] > 0, 1 - v, v)
    _assert_equal(flipped(updated(machine, v, True)), updated(flipped(machine), other, True), 1e-10)
    with pytest.raises(AssertionError):
        _assert_equal(flipped(updated(machine, v, False)), updated(flipped(machine), other, False), 1e-10)


def test_the_centred_step_climbs():
    """⟨plain gradient, centred step⟩ > 0: T Tᵀ is positive semidefinite."""
    for make in MACHINES.values():
        machine = make()
        visible, weights = _data(machine, 12, seed=3)
        objective = Likelihood(Exact())
        state = objective.init(hm.key(1), machine, _means(machine, tuple(x + 0.3 for x in visible)))
        gradient, state = objective.step(hm.key(2), machine, state, Batch(visible, weights, 12.0))
        step = objective.leave(machine, objective.enter(machine, gradient, state), state)
        product = sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(step), strict=True))
        assert product > 0


def test_penalties_are_subtracted_and_keep_their_share():
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    visible, weights = _data(machine, 8)
    plain = _gradient(Likelihood(Exact()), machine, visible, weights, 16.0)
    penalties = Penalties(l2=0.3, l1=0.2)
    found = _gradient(Likelihood(Exact(), penalties), machine, visible, weights, 16.0)
    w = machine.couplings[0].weights
    np.testing.assert_allclose(
        found.couplings[0].weights, plain.couplings[0].weights - 0.5 * (0.3 * w + 0.2 * jnp.sign(w)), rtol=1e-10
    )
    _assert_equal(found.layers, plain.layers)


def test_the_sparsity_penalty_is_the_divergence_from_the_target():
    """Its gradient against finite differences of the textbook's formula; zero when activity is on target."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    visible, weights = _data(machine, 8)
    penalties = Penalties(sparsity=0.7, target=0.2)

    def textbook(bias):
        field = np.asarray(visible[0] @ machine.couplings[0].weights) + bias
        activity = np.average(1 / (1 + np.exp(-field)), axis=0, weights=weights)
        return 0.7 * np.sum(0.2 * np.log(0.2 / activity) + 0.8 * np.log(0.8 / (1 - activity)))

    bias = np.asarray(machine.layers[1].bias)
    gradient = penalties.gradient(machine, (*visible, None), weights).layers[1].bias
    for j in range(3):
        shift = 1e-6 * np.eye(3)[j]
        assert np.isclose(gradient[j], (textbook(bias + shift) - textbook(bias - shift)) / 2e-6, rtol=1e-6)
    on_target = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(np.full(3, np.log(0.2 / 0.8))))
    np.testing.assert_allclose(penalties.gradient(on_target, (*visible, None), weights).layers[1].bias, 0, atol=1e-12)


def test_smoothing_draws_every_visible_unit_towards_a_neutral_one():
    """ε(⟨T⟩ of the neutral unit - ⟨T⟩ of the unit alone): ε(½ - σ(a)), and for a Gaussian with T = (x, -½x²)."""

    def slope(unit):
        machine = hm.rbm(unit, hm.Bernoulli(2), jnp.ones((3, 2)))
        gradient = Penalties(smoothing=0.3).gradient(machine, (jnp.zeros((4, 3)), None), jnp.ones(4))
        assert not gradient.couplings[0].weights.any()
        return jax.tree.map(lambda g: -g / 0.3, gradient.layers[0])

    b, precision = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 1.0, 4.0])
    np.testing.assert_allclose(slope(hm.Bernoulli(b)).bias, 0.5 - 1 / (1 + np.exp(-b)), rtol=1e-12)
    found = slope(hm.Gaussian(b, precision))
    np.testing.assert_allclose(found.bias, -b / precision, rtol=1e-12)
    np.testing.assert_allclose(found.precision, -0.5 + (1 / precision + (b / precision) ** 2) / 2, atol=1e-12)
