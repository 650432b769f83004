"""Displays draw on the axes they are given, or on new ones, and keep both."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import harmonium as hm
from harmonium.errors import ArgumentError

X = np.random.default_rng(0).integers(0, 2, (60, 6)).astype(float)


@pytest.fixture(scope="module")
def rbm():
    return hm.RBM(5, n_updates=40, random_state=0).fit(X)


@pytest.fixture(autouse=True)
def unseen():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


MADE = {
    "history": lambda rbm, ax=None: hm.HistoryDisplay.from_estimator(rbm, ax=ax),
    "filters": lambda rbm, ax=None: hm.FiltersDisplay.from_estimator(rbm, (2, 3), ax=ax),
    "samples": lambda rbm, ax=None: hm.SamplesDisplay.from_estimator(rbm, (2, 3), n=8, ax=ax),
    "weights": lambda rbm, ax=None: hm.WeightsDisplay.from_estimator(rbm, ax=ax),
    "moments": lambda rbm, ax=None: hm.MomentsDisplay.from_estimator(rbm, X, ax=ax),
    "autocorrelation": lambda rbm, ax=None: hm.AutocorrelationDisplay.from_estimator(rbm, ax=ax),
}


@pytest.mark.parametrize("name", MADE)
def test_axes(rbm, name):
    display = MADE[name](rbm)
    assert display.ax_ in display.figure_.axes
    assert display.ax_.has_data()
    _, ax = plt.subplots()
    again = display.plot(ax)
    assert again is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()
    assert ax.has_data()


def test_history_by_name(rbm):
    display = hm.HistoryDisplay.from_estimator(rbm, "gradient_norm")
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), rbm.history_["gradient_norm"])
    with pytest.raises(ArgumentError, match=r"name: found 'energy'.*pseudo_likelihood"):
        hm.HistoryDisplay.from_estimator(rbm, "energy")


def test_filters_of_the_other_estimator():
    other = hm.BernoulliRBM(4, n_iter=1, random_state=0).fit(X)
    assert hm.FiltersDisplay.from_estimator(other, (3, 2)).weights.shape == (4, 6)


def test_moments_are_those_of_the_data(rbm):
    display = hm.MomentsDisplay.from_estimator(rbm, X, what="mean")
    np.testing.assert_allclose(display.found.data, X.mean(0), atol=1e-6)
    with pytest.raises(ArgumentError, match="what"):
        hm.MomentsDisplay.from_estimator(rbm, X, what="median")
