"""A run's history outside: lines of JSON and TensorBoard's events, also of a run that was interrupted."""

import json
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.errors import ArgumentError
from harmonium.training import Course, Journal

X = np.repeat([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], 10, axis=0)
FAST = {"n_updates": 40, "random_state": 0, "monitors": ["reconstruction_error"]}


def _columns(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_lines_are_the_history(tmp_path):
    rbm = hm.RBM(2, log=tmp_path / "runs" / "a.jsonl", **FAST).fit(X)
    assert _columns(tmp_path / "runs" / "a.jsonl") == rbm.history_
    with pytest.raises(ArgumentError, match=r"log: found .*a.jsonl, which exists"):
        rbm.fit(X)


def test_a_run_that_goes_on_leaves_the_lines_of_one_that_never_stopped(tmp_path):
    whole = hm.RBM(2, log=tmp_path / "whole.jsonl", **FAST).fit(X)
    path = tmp_path / "parts.jsonl"
    rows = [dict(zip(whole.history_, row, strict=True)) for row in zip(*whole.history_.values(), strict=True)]

    class State:
        step = jnp.asarray(8)

    with Journal(
        path, Course(State()), resumed=False
    ) as first:  # stopped after five looks, the last checkpoint at four
        for n in range(6):
            first.write(Course(State(), tuple(rows[:n])))
    with Journal(path, Course(State(), tuple(rows[:4])), resumed=True) as second:
        for n in range(4, len(rows) + 1):
            second.write(Course(State(), tuple(rows[:n])))
    assert path.read_text() == (tmp_path / "whole.jsonl").read_text()


def test_what_is_not_finite_is_null(tmp_path):
    class State:
        step = jnp.asarray(1)

    with Journal(tmp_path / "a.jsonl", Course(State()), resumed=False) as journal:
        journal.write(Course(State(), ({"step": 1, "log_likelihood": float("nan")},)))
    assert (tmp_path / "a.jsonl").read_text() == '{"step": 1, "log_likelihood": null}\n'


def test_events_for_tensorboard(tmp_path):
    pytest.importorskip("tensorboardX")
    rbm = hm.RBM(2, log=tmp_path / "events", **FAST).fit(X)
    (file,) = (tmp_path / "events").iterdir()
    content = file.read_bytes()
    assert content.count(b"reconstruction_error") == len(rbm.history_["step"])
    last = np.float32(rbm.history_["reconstruction_error"][-1]).tobytes()
    assert last in content


def test_without_a_library_for_events(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ArgumentError, match=r"pip install 'harmonium\[tensorboard\]', or a name that ends in .jsonl"):
        hm.RBM(2, log=tmp_path / "events", **FAST).fit(X)
