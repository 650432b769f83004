"""What is compiled once is compiled: another fit of the same shapes compiles nothing."""

import logging

import jax
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import harmonium as hm

X = np.random.default_rng(0).integers(0, 2, (45, 5)).astype(float)


@pytest.fixture
def compiled(caplog):
    """The names of the programs that a call compiles."""

    def during(call):
        caplog.clear()
        with jax.log_compiles(), caplog.at_level(logging.WARNING):
            call()
        return [r.getMessage() for r in caplog.records if "XLA compilation" in r.getMessage()]

    return during


def _rbm(**settings):
    return hm.RBM(**{"n_components": 3, "batch_size": 8, "n_updates": 40, "random_state": 0, **settings})


def test_another_fit_compiles_nothing(compiled):
    """Another rate, seed, length, penalty and target of sparsity, other rows and another number of them, weights."""
    assert any("advance" in message for message in compiled(lambda: _rbm(sparsity=0.1).fit(X)))
    other = _rbm(
        learning_rate=0.02, random_state=1, n_updates=50, l2=0.3, sparsity=0.2, sparsity_target=0.3, monitor_every=10
    )
    assert compiled(lambda: other.fit(1 - X[:33], sample_weight=np.arange(1.0, 34))) == []


@pytest.mark.prove
def test_the_first_fit_compiles_few_programs(compiled):
    """Small operations one by one would each be a program of 10 to 100 ms; the number of those left is a budget."""
    jax.clear_caches()
    assert len(compiled(lambda: _rbm(n_components=2).fit(X))) <= 20
    jax.clear_caches()
    assert len(compiled(lambda: hm.BernoulliRBM(2, random_state=0).fit(X))) <= 15


def test_a_grid_search_compiles_what_one_fit_does(compiled):
    compiled(lambda: _rbm().fit(X[:30]).score(X[30:]))
    search = GridSearchCV(_rbm(), {"learning_rate": [0.01, 0.1], "l2": [0.01, 0.1]}, cv=3)
    assert compiled(lambda: search.fit(X)) == []
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_other_estimator_compiles_once(compiled):
    assert compiled(lambda: hm.BernoulliRBM(3, batch_size=8, n_iter=3, random_state=0).fit(X))
    again = hm.BernoulliRBM(3, batch_size=8, n_iter=2, learning_rate=0.01, random_state=1)
    assert compiled(lambda: again.fit(1 - X[:33])) == []
