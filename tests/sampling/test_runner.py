"""The runner: what it keeps, what it accepts, that runs continue and that nothing compiles twice."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS, pair

import harmonium as hm
from harmonium.sampling import gibbs, runner

every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
step = eqx.filter_jit(gibbs.step)


@pytest.fixture
def machine():
    return pair(hm.Bernoulli, hm.Categorical, (3, 2))


def _masks(state):
    """Half of all units, another half in every row."""
    return tuple(jax.random.bernoulli(hm.key(3 + i), 0.5, x.shape[:2]) for i, x in enumerate(state))


def test_draws_are_the_states_of_the_chain(machine):
    """Keep, warm-up and thinning against the kernel called by hand."""
    key, state = hm.key(1), gibbs.init(hm.key(2), machine, 4)
    last, (v, h) = hm.run(key, machine, state, hm.Keep(), 3, warm_up=2, thin=2)
    assert v.shape == (4, 3, 3)
    assert h.shape == (4, 3, 2, 3)
    by_hand = []
    for t in range(8):
        state, _ = step(jax.random.fold_in(key, t), machine, state)
        if t in (3, 5, 7):
            by_hand.append(state)
    np.testing.assert_array_equal(v, jnp.stack([s[0] for s in by_hand], axis=1))
    np.testing.assert_array_equal(h, jnp.stack([s[1] for s in by_hand], axis=1))
    np.testing.assert_array_equal(last[0], v[:, -1])


def test_a_run_continued_is_one_long_run(machine):
    state = gibbs.init(hm.key(2), machine, 4)
    whole, _ = hm.run(hm.key(1), machine, state, hm.Keep(), 10)
    half, _ = hm.run(hm.key(1), machine, state, hm.Keep(), 4)
    rest, _ = hm.run(hm.key(1), machine, half, hm.Keep(), 6, start=4)
    for a, b in zip(whole, rest, strict=True):
        np.testing.assert_array_equal(a, b)


@every_graph
def test_a_chain_does_not_depend_on_how_many_run_beside_it(graph):
    machine = graph()
    state = gibbs.init(hm.key(2), machine, 8)
    few = tuple(x[:3] for x in state)
    all_eight, _ = step(hm.key(1), machine, state)
    three, _ = step(hm.key(1), machine, few)
    for a, b in zip(all_eight, three, strict=True):
        np.testing.assert_allclose(a[:3], b, rtol=1e-6)


def test_folds_equal_moments_of_the_kept_draws(machine, float64):
    machine = pair(hm.Gaussian, hm.Categorical, (3, 2))
    state = gibbs.init(hm.key(2), machine, 5)
    _, draws = hm.run(hm.key(1), machine, state, hm.Keep(), 40)
    _, (means, variances) = hm.run(hm.key(1), machine, state, hm.Moments(), 40)
    _, statistics = hm.run(hm.key(1), machine, state, hm.Statistics(), 40)
    for x, mean, variance in zip(draws, means, variances, strict=True):
        np.testing.assert_allclose(mean, x.mean(axis=(0, 1)), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(variance, x.var(axis=(0, 1)), rtol=1e-11, atol=1e-14)
    flat = tuple(x.reshape(-1, *x.shape[2:]) for x in draws)
    expected = machine.statistics(flat)
    for a, b in zip(jax.tree.leaves(statistics), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_info_counts_what_moved(machine):
    state = gibbs.init(hm.key(2), machine, 50)
    after, info = step(hm.key(1), machine, state)
    assert np.isclose(info.moved[0], np.mean(np.asarray(after[0] != state[0])))
    assert np.isclose(info.moved[1], np.mean(np.any(np.asarray(after[1] != state[1]), axis=-1)))


@every_graph
def test_what_is_clamped_never_moves_and_the_rest_does(graph, float64):
    machine = graph()
    state = gibbs.init(hm.key(2), machine, 30)
    masks = _masks(state)
    after, moved = state, 0
    for t in range(8):
        after, _ = step(hm.key(t), machine, after, masks, jnp.array(1.0))
        for x, new, mask in zip(state, after, masks, strict=True):
            changed = np.asarray(new != x)
            assert not changed[np.asarray(mask)].any()
            moved += changed.sum()
    assert moved > 0


def test_a_clamp_given_to_the_runner_holds(machine):
    state = gibbs.init(hm.key(2), machine, 30)
    masks = _masks(state)
    draws = hm.sample(machine, hm.key(1), n_draws=5, warm_up=3, initial=state, clamp=masks)
    for x, mask, kept in zip(state, masks, draws, strict=True):
        changed = np.asarray(kept != x[:, None])
        assert not changed.swapaxes(1, 2)[np.asarray(mask)].any()
        assert changed.any()


def test_a_layer_clamped_whole_stays_and_is_not_sampled(machine):
    state = gibbs.init(hm.key(2), machine, 30)
    v, h = hm.sample(machine, hm.key(1), n_draws=2, initial=state, clamp=(True, False))
    np.testing.assert_array_equal(v, jnp.stack([state[0]] * 2, axis=1))
    assert (h[:, 1] != state[1]).any()


def test_one_compilation_serves_other_seeds_lengths_and_weights(machine):
    state = gibbs.init(hm.key(2), machine, 4)
    compiled = []

    def counted(key, machine, state, clamp):
        compiled.append(1)  # runs while tracing only
        return gibbs.step(key, machine, state, clamp)

    def go(machine, seed, **counts):
        runner.run(hm.key(seed), machine, state, hm.Moments(), 6, kernel=counted, **counts)

    go(machine, 1)
    first = len(compiled)
    go(machine, 2, warm_up=7, thin=3, start=11)
    go(machine.scaled(2.0), 3)
    go(pair(hm.Bernoulli, hm.Categorical, (3, 2), seed=9), 4)
    assert len(compiled) == first > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "n_chains: found None"),
        ({"n_chains": 0}, "n_chains: found 0"),
        ({"n_chains": 2, "n_draws": 0}, "n_draws: found 0; wanted at least 1"),
        ({"n_chains": 2, "thin": 0}, "thin: found 0"),
        ({"n_chains": 2, "warm_up": -1}, "warm_up: found -1"),
        ({"n_chains": 2, "clamp": (True, False)}, "initial: found nothing"),
        ({"initial": (np.zeros((2, 3)),)}, "initial: found 1 arrays; wanted one for each of visible, hidden"),
        ({"initial": (np.zeros((2, 4)), np.zeros((2, 2, 3)))}, r"shape \(2, 4\) for 'visible'"),
        ({"initial": (np.zeros((2, 3)), np.zeros((2, 2, 3)))}, "'hidden' outside its domain; wanted one-hot"),
        ({"initial": (np.full((2, 3), 0.5), np.eye(3)[np.zeros((2, 2), int)])}, "wanted 0 or 1"),
        (
            {"initial": (np.zeros((2, 3)), np.eye(3)[np.zeros((2, 2), int)]), "clamp": (True,)},
            "clamp: found 1 entries",
        ),
        (
            {"initial": (np.zeros((2, 3)), np.eye(3)[np.zeros((2, 2), int)]), "clamp": (np.zeros((2, 3)), False)},
            "clamp: found float.* wanted True, False, or booleans",
        ),
    ],
)
def test_arguments_that_cannot_be_used(machine, arguments, message):
    with pytest.raises(hm.ArgumentError, match=message):
        hm.sample(machine, hm.key(0), **arguments)


@every_graph
def test_tempering_scales_every_input(graph, float64):
    """A step at β is a step of the machine at β: same draws."""
    machine = graph()
    state = gibbs.init(hm.key(2), machine, 30)
    free = tuple(jnp.zeros(x.shape[:2], bool) for x in state)
    a, _ = step(hm.key(1), machine, state, free, jnp.array(0.3))
    b, _ = step(hm.key(1), machine.scaled(0.3), state, free, jnp.array(1.0))
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)


def test_chains_sharded_over_two_devices_draw_the_same(machine):
    mesh = jax.make_mesh((2,), ("chains",))
    assert len(jax.devices()) == 2
    state = gibbs.init(hm.key(2), machine, 8)
    spread = jax.device_put(state, jax.NamedSharding(mesh, jax.P("chains")))
    key = jax.random.key(1)  # not Philox: see harmonium.key
    one, _ = step(key, machine, state)
    two, _ = step(key, machine, spread)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
