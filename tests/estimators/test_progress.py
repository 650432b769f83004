"""What a person sees while a run goes: nothing unless asked, lines in a pipe, a bar in a terminal."""

import io
import re

import jax.numpy as jnp
import numpy as np
from rich.console import Console

import harmonium as hm
from harmonium.estimators import progress
from harmonium.estimators.progress import Display
from harmonium.training import Course

X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)


class AtStep:
    """As much of a state as the display looks at."""

    def __init__(self, step):
        self.step = jnp.asarray(step)


def _shown(steps, **kwargs):
    out = io.StringIO()
    with Display("RBM 2 - 3", 100, shown=True, console=Console(**{"file": out, "width": 120, **kwargs})) as display:
        for step in steps:
            display.show(Course(AtStep(step), ({"step": step, "epoch": 1.0, "pseudo_likelihood": -1.25},)))
    return out.getvalue()


def test_silent_unless_asked(capsys):
    hm.RBM(3, n_updates=5, random_state=0).fit(X)
    hm.BernoulliRBM(3, n_iter=1, random_state=0).fit(X)
    assert capsys.readouterr() == ("", "")


def test_lines_in_a_pipe_go_to_standard_error(capsys):
    hm.RBM(3, n_updates=5, verbose=1, random_state=0).fit(X)
    out, err = capsys.readouterr()
    assert out == ""
    assert "RBM 2 Bernoulli - 3: 5/5 updates" in err
    assert "pseudo likelihood" in err
    assert "\x1b" not in err


def test_a_pipe_is_told_the_end_and_what_was_found():
    text = _shown([10, 100])
    assert text.count("\n") == 1  # less than ten seconds between them
    assert "RBM 2 - 3: 100/100 updates" in text
    assert "pseudo likelihood -1.25" in text
    assert "\x1b" not in text


def test_a_terminal_gets_a_bar():
    text = _shown([10, 90], force_terminal=True)  # what is there when it ends, whatever was drawn before
    assert "\x1b" in text
    assert "━" in text
    assert re.search(r"RBM 2 - 3: 90/100 updates, [\d,]+/s, 0:00:00 left, pseudo likelihood -1\.25", text)


def test_a_narrow_terminal_loses_nothing():
    text = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", _shown([10, 100], force_terminal=True, width=50))
    assert "pseudo likelihood -1.25" in " ".join(text.split())
    assert "…" not in text


def test_a_notebook_that_can_draw_no_bar_gets_lines(monkeypatch):
    def find_spec(name):
        assert name == "ipywidgets"

    monkeypatch.setattr(progress, "find_spec", find_spec)
    assert not Display("RBM", 100, shown=True, console=Console(file=io.StringIO(), force_jupyter=True)).live
    monkeypatch.setattr(progress, "find_spec", lambda _: True)
    assert Display("RBM", 100, shown=True, console=Console(file=io.StringIO(), force_jupyter=True)).live


def test_scikit_learns_lines(capsys):
    hm.BernoulliRBM(3, n_iter=2, verbose=1, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("[BernoulliRBM] Iteration 2, pseudo-likelihood = -")
