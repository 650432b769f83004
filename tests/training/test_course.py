"""A course: who looks when, which model is kept as the best, when to stop, and that it goes on where it was."""

import math

import bowl
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harmonium.training import Course, Watch, follow

ROWS = bowl.rows(10)  # three steps an epoch


def _followed(watch, until=12, course=None):
    run, start = bowl.begun(rate=0.1)
    *_, course = follow(run, Course(start) if course is None else course, bowl.batches(ROWS), until, watch)
    return course


def _scored(scores):
    """A monitor that finds these scores, one after the other."""
    left = iter(scores)
    return lambda state: {"score": next(left), "at": float(state.model.place[0])}


def test_it_is_looked_at_every_so_often_and_at_the_end():
    course = _followed(Watch(5, lambda state: {"made": int(state.objective[0])}))
    assert course.history == tuple({"step": t, "epoch": t / 3, "made": t} for t in (5, 10, 12))
    assert course.best is None
    assert course.result is course.state.average


def test_a_course_cut_anywhere_has_the_same_history():
    watch = Watch(5, lambda state: {"at": float(state.model.place[0])})
    whole, first = _followed(watch, 20), _followed(watch, 10)
    assert len(whole.history) == 4
    again = _followed(watch, 20, first)
    assert again.history == whole.history
    np.testing.assert_array_equal(again.state.average.place, whole.state.average.place)


def test_the_best_is_kept_as_it_was_when_it_was_looked_at():
    """The result of the state: the average."""
    course = _followed(Watch(2, _scored([1.0, 3.0, 2.0, 3.0, 2.5, -1.0]), "score"))
    assert (course.best.step, course.best.score) == (4, 3.0)  # the first of equals
    wanted = _followed(Watch(100, lambda state: {}), 4).state.average
    np.testing.assert_array_equal(course.result.place, wanted.place)
    assert not np.array_equal(course.result.place, course.state.average.place)
    assert not course.stopped


@pytest.mark.parametrize(
    ("scores", "patience", "last"),
    [
        ([1, 2, 1, 1, 1, 1], 2, 8),  # the second and third look after the best
        ([1, 2, 1, 3, 1, 4], 2, 12),
        ([1, 0, 9, 9, 9, 9], 1, 4),
        ([1, 2, 1, 1, 1, 1], None, 12),
        ([math.nan] * 6, 3, 6),  # never a best
        ([math.nan, 1, math.nan, math.nan, 9, 9], 2, 8),
        ([-math.inf] * 6, 3, 6),
    ],
)
def test_patience_counts_looks_without_a_better_model(scores, patience, last):
    course = _followed(Watch(2, _scored(map(float, scores)), "score", patience))
    assert course.stopped == (patience is not None and last < 12)
    assert int(course.state.step) == course.history[-1]["step"] == last


def test_what_has_stopped_does_not_go_on():
    run, start = bowl.begun()
    stopped = Course(start, stopped=True)
    assert list(follow(run, stopped, bowl.batches(ROWS), 10, Watch(5, lambda state: {}))) == []


def test_without_a_finite_score_the_result_is_the_latest():
    course = _followed(Watch(2, _scored([math.nan] * 6), "score"))
    assert course.best is None
    assert course.result is course.state.average


def test_a_monitor_sees_the_model_of_its_step():
    seen = []
    _followed(Watch(4, lambda state: seen.append(state.model.place) or {}))
    assert len(jax.tree.leaves(seen)) == 3
    for t, place in zip((4, 8, 12), seen, strict=True):
        wanted = _followed(Watch(100, lambda state: {}), t).state.model.place
        np.testing.assert_array_equal(place, jnp.asarray(wanted))
