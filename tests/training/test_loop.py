"""The loop: the same run however it is cut, compiled once, and stopped at the step that leaves all bounds."""

import logging

import bowl
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

import harmonium as hm
from harmonium.data import Batches, read
from harmonium.learning import Batch, Likelihood, Penalties, Persistent
from harmonium.training import Run, Schedule, optimiser
from harmonium.training.loop import LIMIT, chunk_size, chunks, update

X = np.random.default_rng(0).integers(0, 2, (10, 4)).astype(np.float32)


def _leaves(state):
    """All arrays of a state, keys as the numbers they are."""
    numbers = (jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in _arrays(state))
    return [np.asarray(x) for x in numbers]


def _arrays(state):
    return jax.tree.leaves(eqx.filter(state, eqx.is_array))


def _last(states):
    *_, state = states
    return state


def _pcd(rate=0.1, n_updates=40, l2=0.1, seed=0, model_seed=1):
    """A run with everything that has a memory: Adam, averages, chains, a gauge; ten rows, batches of four."""
    objective = Likelihood(Persistent(5), Penalties(l2=l2))
    run = Run(objective, optimiser("adam", Schedule(rate, n_updates, "late")), bowl.as_they_are)
    machine = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(3), 0.1 * jax.random.normal(hm.key(model_seed), (4, 3)))
    return run, run.start(hm.key(seed), machine, (jnp.asarray(X.mean(axis=0)),)), Batches(read(X), 4, seed)


def test_chunks_of_any_length_make_the_same_run_bit_for_bit():
    run, start, batches = _pcd()
    whole = _last(chunks(run, start, batches, 40, 40))
    for size, every in ((1, None), (7, 5)):
        cut = _last(chunks(run, start, batches, 40, size, every))
        for a, b in zip(_leaves(whole), _leaves(cut), strict=True):
            np.testing.assert_array_equal(a, b)
    step = eqx.filter_jit(update)
    by_hand = start
    for t in range(40):
        rows, weights = batches.chunk(t, 1)
        by_hand = step(run, by_hand, Batch((jnp.asarray(rows[0]),), jnp.asarray(weights[0]), 4.0))
    for a, b in zip(_leaves(whole), _leaves(by_hand), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("size", "every", "ends"), [(4, None, [4, 8, 10]), (4, 3, [3, 6, 9, 10]), (9, 5, [5, 10])])
def test_chunks_end_where_someone_looks(size, every, ends):
    run, start = bowl.begun()
    steps = [int(s.step) for s in chunks(run, start, bowl.batches(bowl.rows(10)), 10, size, every)]
    assert steps == ends


def test_every_step_of_every_run_draws_anew():
    """From the seed and the number of the step, whatever came before."""
    batches, drawn = bowl.batches(bowl.rows(10)), {}
    for seed in (0, 1):
        run, start = bowl.begun(seed=seed)
        for state in chunks(run, start, batches, 20, 1):
            drawn[seed, int(state.step)] = float(state.objective[1])
        *_, state = chunks(run, start, batches, 20, 7)
        assert float(state.objective[1]) == drawn[seed, 20]
    assert len({*drawn.values()}) == 40


@pytest.mark.parametrize("emphasis", [0.0, 1.0, 4.0, 2.5])
def test_the_average_is_a_plain_sum(emphasis):
    """Σ cₛθₛ / Σ cₛ over the models after steps s = 1, 2, …, with cₛ = Γ(s+η)/Γ(s); the start has no part in it."""
    run, start = bowl.begun(rate=0.3, emphasis=emphasis, model=bowl.Point(jnp.full(2, 100.0), jnp.zeros(())))
    states = list(chunks(run, start, bowl.batches(bowl.rows(10)), 25, 1))
    places = np.stack([s.model.place for s in states]).astype(float)
    s = np.arange(1, 26)
    weights = np.exp(special.gammaln(s + emphasis) - special.gammaln(s))
    for t in (1, 2, 10, 25):
        wanted = weights[:t] @ places[:t] / weights[:t].sum()
        np.testing.assert_allclose(states[t - 1].average.place, wanted, rtol=2e-5)
        assert states[t - 1].result is states[t - 1].average


def test_without_averaging_the_result_is_the_model():
    run, start = bowl.begun(emphasis=None)
    state = _last(chunks(run, start, bowl.batches(bowl.rows(10)), 3, 3))
    assert state.average is None
    assert state.result is state.model


@pytest.mark.parametrize("size", [1, 4, 19, 20, 100])
def test_what_grows_out_of_bounds_is_stopped_at_the_step_that_left_them(size):
    """Doubled in every step, 1 passes 10⁶ in step 20: wherever chunks end, and the state after 19 is kept."""
    run, start = bowl.begun(rate=1.0, model=bowl.point(1.0))
    with pytest.raises(hm.DivergenceError, match=r"the size at 1.05e\+06, beyond 1e\+06") as caught:
        _last(chunks(run, start, bowl.batches(bowl.rows(10)), 60, size))
    assert (caught.value.step, int(caught.value.state.step)) == (20, 19)
    assert float(caught.value.state.model.size) == 2.0**19 < LIMIT


@pytest.mark.parametrize("size", [1, 5, 50])
def test_what_is_not_finite_is_found_at_its_step_and_named(size):
    """A row without sense is met where the order puts it; until then the run is the one without it, bit for bit."""
    rows = bowl.rows(30)
    rows[17, 1] = -1
    run, start = bowl.begun()
    batches = bowl.batches(rows)
    met = int(np.flatnonzero(batches.order(0) == 17)[0]) // 4
    assert met > 1
    with pytest.raises(hm.DivergenceError) as caught:
        _last(chunks(run, start, batches, 50, size))
    assert (caught.value.step, caught.value.found) == (met + 1, "NaN or infinity in place")
    sane = _last(chunks(run, start, bowl.batches(np.abs(rows)), met, size))
    for a, b in zip(_leaves(sane), _leaves(caught.value.state), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_start_without_sense_is_refused_before_the_first_step():
    run, start = bowl.begun(model=bowl.point(2e6))
    with pytest.raises(hm.DivergenceError) as caught:
        _last(chunks(run, start, bowl.batches(bowl.rows(10)), 8, 4))
    assert (caught.value.step, int(caught.value.state.step)) == (0, 0)


def test_inputs_of_a_machine_out_of_bounds_name_their_layer():
    run, start, batches = _pcd(rate=3e6)
    found = set()
    for size in (1, 16):
        with pytest.raises(hm.DivergenceError, match=r"the inputs of layer 'hidden' at .*, beyond") as caught:
            _last(chunks(run, start, batches, 40, size))
        found.add(caught.value.step)
        assert all(np.isfinite(x).all() for x in jax.tree.leaves(eqx.filter(caught.value.state, eqx.is_inexact_array)))
    assert len(found) == 1


def test_another_run_of_the_same_shapes_compiles_nothing(caplog):
    """Seed, rate, length, penalty, start and data are numbers in the same program."""

    def compiled(*settings):
        caplog.clear()
        with jax.log_compiles(), caplog.at_level(logging.WARNING):
            _last(chunks(*_made(*settings)))
        return [record.getMessage() for record in caplog.records if "XLA compilation" in record.getMessage()]

    def _made(rate, n_updates, l2, seed):
        run, start, batches = _pcd(rate, n_updates, l2, seed, model_seed=seed)
        return run, start, batches, n_updates, 11

    assert any("advance" in message for message in compiled(0.1, 20, 0.3, 2))
    assert compiled(0.02, 35, 0.4, 3) == []


def test_the_length_of_a_chunk_follows_from_shapes():
    model = bowl.point()
    assert chunk_size(4, 2, model) == 1000
    assert chunk_size(2**20, 2, model) == 8  # 2²⁶ bytes of rows
    assert chunk_size(2**20, 2**10, model) == 1
