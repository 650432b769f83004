"""A checkpoint holds all of a course, to the bit, and is taken for no other run's."""

import math
from itertools import islice

import bowl
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.artifact import ArtifactError, save_machine
from harmonium.data import Batches, read
from harmonium.learning import Likelihood, Persistent
from harmonium.training import Best, Course, Run, Schedule, Watch, checkpoint, follow, optimiser

X = np.random.default_rng(0).integers(0, 2, (10, 4)).astype(np.float32)
WATCH = Watch(5, lambda state: {"score": float(-state.step) if state.step > 5 else 1.0}, "score")


def _made(name="adam", n_hidden=3, seed=0):
    run = Run(Likelihood(Persistent(5)), optimiser(name, Schedule(0.05, 30)), bowl.as_they_are)
    machine = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(n_hidden), 0.1 * jax.random.normal(hm.key(seed + 1), (4, n_hidden)))
    return run, Course(run.start(hm.key(seed), machine, (jnp.asarray(X.mean(axis=0)),)))


def _followed(run, course, looks):
    """The course after some of the five looks at it."""
    *_, course = islice(follow(run, course, Batches(read(X), 4, 0), 23, WATCH), looks)
    return course


def _assert_same(a, b):
    """Every array of the state and of the best, with its type and bits, and all that is written down."""
    (one, other) = (eqx.filter((c.state, c.best and c.best.model), eqx.is_array) for c in (a, b))
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert x.dtype == y.dtype
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            assert jax.random.key_impl(x) == jax.random.key_impl(y)
            x, y = jax.random.key_data(x), jax.random.key_data(y)
        np.testing.assert_array_equal(x, y)
    one, other = ([sorted(row.items()) for row in course.history] for course in (a, b))
    assert repr(one) == repr(other)  # NaN is not equal to itself
    assert repr(a.best and a.best[1:]) == repr(b.best and b.best[1:])
    assert a.stopped == b.stopped


def test_what_is_saved_comes_back_and_goes_on_bit_for_bit(tmp_path):
    """Adam's moments, averages, chains, gauge, key, best and history; into a start that knows nothing of them."""
    run, start = _made()
    whole, half = _followed(run, start, 5), _followed(run, start, 2)
    checkpoint.save(tmp_path / "new" / "folder", half, {"seed": 0})
    _, fresh = _made(seed=5)
    again = checkpoint.load(tmp_path / "new" / "folder", fresh, {"seed": 0})
    _assert_same(again, half)
    assert again.best is not None
    _assert_same(_followed(run, again, 5), whole)


def test_what_is_not_finite_is_kept(tmp_path):
    _, start = _made()
    history = ({"step": 1, "score": math.nan}, {"step": 2, "score": -math.inf}, {"step": 3, "score": 0.1})
    for best in (None, Best(start.state.model, -math.inf, 2)):
        course = start._replace(history=history, stopped=True, best=best)
        checkpoint.save(tmp_path, course, {})
        _assert_same(checkpoint.load(tmp_path, start, {}), course)


@pytest.mark.parametrize(
    ("name", "n_hidden", "about", "message"),
    [
        ("adam", 3, {"rate": 0.2, "l1": 0}, r"found a run with rate = 0.1; wanted 0.2"),
        ("adam", 3, {"rate": 0.1}, r"found a run with l1 = 0; wanted None"),
        ("adam", 3, {"rate": 0.1, "l1": 0, "more": 1}, r"found a run with more = None; wanted 1"),
        ("sgd", 3, {"rate": 0.1, "l1": 0}, "arrays that are not this run's"),
        (
            "adam",
            2,
            {"rate": 0.1, "l1": 0},
            r"float32 of shape \(3,\) for .*bias; wanted float32 of shape \(2,\)",
        ),
    ],
)
def test_another_run_is_refused(tmp_path, name, n_hidden, about, message):
    checkpoint.save(tmp_path, _made()[1], {"rate": 0.1, "l1": 0})
    with pytest.raises(ArtifactError, match=message):
        checkpoint.load(tmp_path, _made(name, n_hidden)[1], about)


def test_a_model_is_no_checkpoint(tmp_path):
    _, start = _made()
    save_machine(checkpoint.path_in(tmp_path), start.state.model)
    with pytest.raises(ArtifactError, match="found a model; wanted the checkpoint of a run"):
        checkpoint.load(tmp_path, start, {})


@pytest.mark.parametrize("place", [-1, 40, 1000])
def test_a_bit_that_fell_over_is_noticed(tmp_path, place):
    _, start = _made()
    checkpoint.save(tmp_path, start, {})
    path = checkpoint.path_in(tmp_path)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtifactError):
        checkpoint.load(tmp_path, start, {})
