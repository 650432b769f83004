"""scikit-learn's own checks, with none expected to fail, and its tools around the estimators."""

import pickle
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import harmonium as hm

# In float64, because one check compares a weighted fit with a fit on repeated rows to seven digits.
ESTIMATORS = {
    "RBM": hm.RBM(3, n_updates=20, dtype="float64", random_state=0),
    "BernoulliRBM": hm.BernoulliRBM(3, n_iter=2, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_checks_pass(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns and values outside [0, 1] are what the checks feed
        found = check_estimator(ESTIMATORS[name], on_fail=None, on_skip=None)
    failed = [f"{check['check_name']}: {check['exception']!r}" for check in found if check["status"] == "failed"]
    counts = Counter(check["status"] for check in found)
    assert not failed, "\n".join(failed)
    assert counts["xfail"] == 0
    assert counts["passed"] >= 40


@pytest.fixture(scope="module")
def bits():
    X = np.random.default_rng(0).integers(0, 2, (60, 6)).astype(float)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_in_a_pipeline_and_a_search_over_processes(bits):
    X, y = bits
    pipeline = make_pipeline(hm.BernoulliRBM(4, n_iter=2, random_state=0), LogisticRegression())
    search = GridSearchCV(pipeline, {"bernoullirbm__learning_rate": [0.05, 0.1]}, cv=2, n_jobs=2)
    assert 0 <= search.fit(X, y).best_score_ <= 1
    assert search.predict(X).shape == y.shape


def test_scores_choose_between_models(bits):
    """``score`` is a log-likelihood: cross_val_score and GridSearchCV maximise it with no scorer given."""
    X, _ = bits
    scores = cross_val_score(hm.RBM(2, n_updates=50, random_state=0), X, cv=2)
    assert scores.shape == (2,)
    assert (scores < 0).all()
    search = GridSearchCV(hm.RBM(2, n_updates=50, random_state=0), {"l2": [0.0, 0.1]}, cv=2).fit(X)
    assert set(search.best_params_) == {"l2"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_clones_pickles_and_frames(name, bits):
    X, _ = bits
    estimator = clone(ESTIMATORS[name])
    assert estimator.get_params() == ESTIMATORS[name].get_params()
    fitted = estimator.fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(again.score_samples(X), fitted.score_samples(X))
    names = fitted.get_feature_names_out()
    assert names[0] == f"{name.lower()}0"
    assert len(names) == fitted.transform(X).shape[1]
    framed = clone(estimator).set_output(transform="polars") if _has("polars") else None
    if framed is not None:
        assert framed.fit_transform(X).columns == list(names)


def _has(module):
    from importlib.util import find_spec

    return find_spec(module) is not None
