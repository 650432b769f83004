"""Verdicts, each on a run made to show its fault, and none of them on a run that has none."""

import numpy as np
import pytest

import harmonium as hm
from harmonium.report import verdicts

BARS = hm.datasets.bars_and_stripes(3).astype(float)


def _said(rbm):
    history, n = rbm.history_, rbm.n_components
    found = [verdicts.chains_stuck(history), verdicts.misled(history), verdicts.overfitting(history)]
    return [one.words for one in (*found, *verdicts.units_idle(history, n)) if one is not None]


def test_a_sound_run():
    rbm = hm.RBM(8, n_updates=600, random_state=0, monitors="all").fit(
        hm.datasets.digits()[:300, [18, 19, 20, 21, 26, 27, 28, 29, 34, 35, 36, 37, 42, 43, 44, 45]]
    )
    assert _said(rbm) == []
    assert verdicts.units_alive(rbm.history_, 8) == verdicts.Verdict(True, "All 8 hidden units tell rows apart.")


def test_chains_that_stay_in_two_modes():
    two = np.repeat([[0.0] * 16, [1.0] * 16], 50, axis=0)
    said = _said(hm.RBM(8, n_updates=1500, l2=0.0, random_state=0).fit(two))
    assert len(said) == 1
    assert said[0].startswith("The chains of learning are stuck")


def test_units_that_a_penalty_switched_off():
    said = _said(hm.RBM(8, n_updates=300, l1=5.0, random_state=0).fit(BARS))
    assert [words[:36] for words in said] == ["8 of 8 hidden units are dead: the sa"]


def test_units_that_are_always_on():
    rbm = hm.RBM(8, n_updates=400, sparsity=20.0, sparsity_target=0.9999, random_state=0).fit(BARS)
    assert [words[:40] for words in _said(rbm)] == ["8 of 8 hidden units are saturated: on, w"]
    assert verdicts.units_alive(rbm.history_, 8) is None


def test_contrastive_divergence_on_bars_and_stripes():
    """Fischer & Igel (2010): the likelihood falls, and reconstructions get better."""
    rbm = hm.RBM(
        16, method="cd", n_updates=5000, learning_rate=0.3, schedule="constant", l2=0.0, averaging=False, centred=False,
        random_state=0, monitors=["log_likelihood", "reconstruction_error"],
    ).fit(hm.datasets.bars_and_stripes(4).astype(float))  # fmt: skip
    said = _said(rbm)
    assert len(said) == 1
    assert "while the reconstruction error still improved" in said[0]


def test_rows_learned_by_heart():
    rows = (np.random.default_rng(0).random((60, 20)) < 0.5).astype(float)
    settings = {"n_updates": 1500, "l2": 0.0, "validation_fraction": 0.4, "patience": None, "random_state": 0}
    said = _said(hm.RBM(32, **settings).fit(rows))
    assert len(said) == 1
    assert "went on to learn its rows by heart" in said[0]


@pytest.mark.parametrize(
    ("lead", "good", "words"),
    [(1.0, True, "Better than it, by 1.00 ± 0.10"), (-1.0, False, "Worse than it, by 1.00"), (0.1, None, "No better")],
)
def test_beside_a_baseline(lead, good, words):
    found = verdicts.beside("it", lead, 0.1)
    assert found.good is good
    assert found.words.startswith(words)


def test_numbers_that_differ_by_chance_are_no_verdict():
    noise = {
        "step": list(range(1, 9)),
        "log_partition_error": [0.2] * 8,
        "reconstruction_error": [9, 8, 7, 6, 5, 4, 3, 2],
    }
    still = noise | {"log_likelihood": [-20, -12, -11, -10.2, -10.0, -10.3, -10.6, -10.5]}
    assert verdicts.misled(still) is None
    assert verdicts.misled(
        still | {"log_partition_error": [0.01] * 8, "log_likelihood": [*still["log_likelihood"][:5], -11, -11, -11]}
    )
    assert verdicts.gap(-10.0, -10.5, 0.1) is None
    assert verdicts.gap(-10.0, -12.5, 0.1) is not None
    assert verdicts.samples_stuck(0.1, 100) is None
    assert verdicts.samples_stuck(0.6, 100) is not None
    assert verdicts.moments_off("means", 0.02, 0.01) is None
    assert "10 times" in verdicts.moments_off("means", 0.1, 0.01).words


def test_what_is_known_of_log_z():
    from harmonium.likelihood.interval import AGREE, DO_NOT_TRUST, Interval
    from harmonium.report.judgement import trust

    found = Interval(1.0, 2.0, 1.5, 0.1, 50.0, AGREE, "annealed")
    assert trust(found) == verdicts.Verdict(
        True, "The likelihood is known to ± 0.50 nats; the verdict on log Z: agree."
    )
    doubted = trust(found._replace(verdict=DO_NOT_TRUST, reason="The ways differ."))
    assert doubted.good is False
    assert doubted.words.endswith("do not trust. The ways differ.")
    assert "exact" in trust(Interval.exact(1.0)).words


def test_chains_that_do_not_agree_and_swaps_that_are_rare():
    assert verdicts.chains_apart({"free energy": 1.005, "direction 1": float("nan")}) is None
    assert "R̂ = 1.80 for the direction 2" in verdicts.chains_apart({"free energy": 1.2, "direction 2": 1.8}).words
    assert verdicts.swaps_rare({"swap_rate": [0.01, 0.3]}) is None
    assert "0.010" in verdicts.swaps_rare({"swap_rate": [0.3, 0.01]}).words
