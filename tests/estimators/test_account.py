"""What a model is held against: columns that ignore each other, by hand."""

import numpy as np
import pytest
from scipy import stats

import harmonium as hm
from harmonium.estimators import account, held_out, independent

CHANCE = np.random.default_rng(0)
N = 50


def _model(X, **parameters):
    return hm.RBM(2, n_updates=2, random_state=0, **parameters).fit(X)


def test_bernoulli():
    X = CHANCE.integers(0, 2, (N, 5))
    share = (N * X.mean(0) + 0.5) / (N + 1)
    wanted = stats.bernoulli.logpmf(X[:7], share).sum(1)
    np.testing.assert_allclose(independent(_model(X), X[:7]), wanted, atol=1e-4)


def test_gaussian():
    X = CHANCE.normal(3, 2, (N, 4))
    wanted = stats.norm.logpdf(X[:7], X.mean(0), X.std(0)).sum(1)
    np.testing.assert_allclose(independent(_model(X, dtype="float64"), X[:7]), wanted, atol=1e-6)


def test_categorical():
    X = CHANCE.integers(0, 3, (N, 4))
    counts = (X[:, :, None] == np.arange(3)).sum(0)
    share = (counts + 1 / 3) / (N + 1)
    wanted = np.log(share[np.arange(4), X[:7]]).sum(1)
    np.testing.assert_allclose(independent(_model(X, visible="categorical"), X[:7]), wanted, atol=1e-4)


def test_a_file_keeps_what_it_takes(tmp_path):
    X = CHANCE.integers(0, 2, (N, 5))
    model = _model(X)
    model.save(tmp_path / "model.safetensors")
    assert account(hm.load(tmp_path / "model.safetensors"), X) == account(model, X)


def test_means_and_errors():
    X = CHANCE.integers(0, 2, (N, 5))
    model = _model(X)
    scores = model.score_samples(X)
    found = account(model, X)
    assert found.n_rows == N
    assert found.log_likelihood.estimate == pytest.approx(scores.mean())
    assert found.log_partition == model.log_partition_
    assert (found.verdict, found.reason) == ("agree", "")
    assert found.error == pytest.approx(scores.std(ddof=1) / np.sqrt(N))
    assert np.isnan(account(model, X[:1]).error)


def test_a_model_that_saw_no_data_has_no_columns_to_compare():
    given = hm.RBM.from_parameters([[0.5], [0.2]], [0.0, 0.1], [0.3])
    assert independent(given, [[0, 1]]) is None
    assert account(given, [[0, 1]]).independent is None


def test_the_rows_held_out_are_those_fit_held_out():
    """Their score, on the best model, is what the monitor wrote down."""
    X = (np.random.default_rng(0).random((N, 6)) < 0.2).astype(int)  # rows of differing scores
    model = hm.RBM(4, n_updates=200, validation_fraction=0.4, random_state=3).fit(X)
    learned, held = held_out(model, N)
    assert len(held) == 20
    assert sorted([*learned, *held]) == list(range(N))
    best = max(model.history_["validation_log_likelihood"])
    assert model.score(X[held]) == pytest.approx(best, abs=0.05)
    assert abs(model.score(X[learned]) - best) > 0.2
