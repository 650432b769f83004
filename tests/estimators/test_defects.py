"""The defects found in scikit-learn's BernoulliRBM and its like, each as a test of our classes.

A batch of fewer rows than ``batch_size``, as in ``partial_fit``, must not pull the model away from the data; scores
must not be noise; ``partial_fit`` must return the estimator; values that are not binary must not pass in silence; draws
must be draws. Elsewhere: NaN for constant columns and a divergence that is hidden (test_rbm), log Z of machines that
have none (test_normalisable), a gauge that changes the distribution (test_gauge), files overwritten (cli/test_run).
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM as Theirs

import harmonium as hm


def _model_mean(rbm):
    """The mean of the visible units under the model, by enumeration."""
    machine = hm.rbm(hm.Bernoulli(rbm.intercept_visible_), hm.Bernoulli(rbm.intercept_hidden_), rbm.components_.T)
    return float(np.mean(hm.exact.statistics(machine).layers[0].bias))


def _rows(n):
    """Rows of six units, each on with the same chance, and their mean."""
    X = (np.random.default_rng(1).random((n, 6)) < 0.6).astype(float)
    return X, X.mean()


# Near the fixed point of a batch of r rows, which to scikit-learn is r/batch_size times the mean of the data.
@pytest.mark.parametrize("n", [10, 4, 15, 101])
def test_short_batches_do_not_move_the_fixed_point(n):
    X, mean = _rows(n)
    rbm = hm.BernoulliRBM(4, learning_rate=0.02, batch_size=10, n_iter=max(1, 40_000 // n), random_state=0).fit(X)
    assert abs(_model_mean(rbm) - mean) < 0.06


def test_a_partial_fit_of_many_rows_keeps_to_the_data():
    X, mean = _rows(100)
    rbm = hm.BernoulliRBM(4, learning_rate=0.1, random_state=0)
    for _ in range(600):
        assert rbm.partial_fit(X) is rbm
    assert abs(_model_mean(rbm) - mean) < 0.06
    assert rbm.transform(X).max() < 0.99


@pytest.mark.parametrize("n", [4, 150])
def test_a_stream_of_any_pieces_keeps_to_the_data(n):
    X, mean = _rows(n)
    rbm = hm.RBM(4, batch_size=100, l2=0.0, random_state=0)
    for _ in range(300):
        assert rbm.partial_fit(X) is rbm
    assert abs(_model_mean(rbm) - mean) < 0.06


def test_scores_are_exact_and_do_not_vary():
    """The pseudo-likelihood of scikit-learn's own parameters: its noisy score is right on average, ours at once."""
    X = (load_digits().data[:200] > 7).astype(float)
    theirs = Theirs(16, n_iter=5, random_state=0).fit(X)
    ours = hm.BernoulliRBM(16)
    for name in ("components_", "intercept_visible_", "intercept_hidden_", "n_features_in_"):
        setattr(ours, name, getattr(theirs, name))
    scores = ours.score_samples(X)
    np.testing.assert_array_equal(scores, ours.score_samples(X))
    theirs.random_state = np.random.RandomState(0)  # a seed would make each call's noise the same
    draws = np.array([theirs.score_samples(X) for _ in range(400)])
    error = draws.std(axis=0, ddof=1) / 20
    assert np.abs((draws.mean(axis=0) - scores) / error).max() < 6  # 200 normal deviates: a false alarm in 10⁶
    assert draws.std(axis=0).mean() > 5 * scores.std() / 2  # what is noise there is not a property of the rows


def test_values_outside_the_unit_interval_are_named_and_learning_goes_on():
    X = [[5.0, 0.0, 1.0], [0.0, 1.0, -2.0]]
    with pytest.warns(UserWarning, match=r"2 of 3 columns have values outside \[0, 1\]: 0, 2"):
        rbm = hm.BernoulliRBM(2, n_iter=2, random_state=0).fit(X)
    assert np.isfinite(rbm.components_).all()
    with pytest.raises(hm.ArgumentError, match="row 0, column 0"):
        hm.RBM(2, visible="bernoulli").fit(X)


def test_a_draw_is_no_mean_and_shares_no_chance():
    """Elsewhere the mean of a Gaussian was called its sample, and all rows and all calls had the same uniforms."""
    coins = hm.RBM.from_parameters(np.zeros((3, 2)), np.zeros(3), np.zeros(2)).set_params(random_state=0)
    first, second = (coins.gibbs(np.zeros((64, 3))) for _ in range(2))
    assert not np.array_equal(first, second)
    assert len(np.unique(first, axis=0)) == 8  # 64 rows miss one of 8 kinds once in 600, but the seed is fixed
    reals = hm.RBM.from_parameters(np.zeros((1, 1)), [0.0], [0.0], visible="gaussian").set_params(random_state=0)
    assert reals.gibbs(np.zeros((4000, 1))).std() == pytest.approx(1, abs=0.06)  # 5 standard errors


def test_each_epoch_is_shuffled_anew():
    """Rows sorted by what they show teach the same as rows in random order: rows of one kind never fill all batches."""
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 100, axis=0)
    rbm = hm.BernoulliRBM(2, learning_rate=0.5, batch_size=20, n_iter=20, random_state=0).fit(X)
    assert abs(rbm.intercept_visible_[0] - rbm.intercept_visible_[1]) < 1.5


@pytest.mark.prove
@pytest.mark.parametrize("settings", [(0.1, 10, 7), (0.06, 10, 20), (0.1, 10, 20)], ids=str)
def test_digits_are_learned_at_least_as_well(settings):
    """The mean over ten seeds of the exact pseudo-likelihood, less its standard error, against scikit-learn's."""
    rate, batch, epochs = settings
    X = (load_digits().data > 7).astype(float)
    scores = []
    for seed in range(10):
        kwargs = {"learning_rate": rate, "batch_size": batch, "n_iter": epochs, "random_state": seed}
        theirs, ours = Theirs(64, **kwargs).fit(X), hm.BernoulliRBM(64, **kwargs).fit(X)
        judge = hm.BernoulliRBM(64)
        found = []
        for rbm in (theirs, ours):
            for name in ("components_", "intercept_visible_", "intercept_hidden_", "n_features_in_"):
                setattr(judge, name, getattr(rbm, name))
            found.append(judge.score_samples(X).mean())
        scores.append(found)
    difference = np.diff(scores, axis=1).ravel()
    assert difference.mean() > -difference.std(ddof=1) / np.sqrt(len(difference))
