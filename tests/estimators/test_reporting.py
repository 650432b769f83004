"""What an estimator tells its report, and the page that comes of it, for each kind of columns."""

import re

import numpy as np
import pytest

import harmonium as hm
from harmonium.errors import ArgumentError
from harmonium.estimators import reporting
from harmonium.report import story

pd = pytest.importorskip("pandas", reason="the tables are data frames: pip install 'harmonium[frames]'")
CHANCE = np.random.default_rng(0)
KINDS = CHANCE.integers(0, 2, (120, 1))
BITS = (CHANCE.random((120, 6)) < 0.1 + 0.8 * KINDS).astype(float)
FRAMES = {
    "bernoulli": pd.DataFrame(BITS, columns=[f"bit <{i}>" for i in range(6)]),
    "categorical": pd.DataFrame((KINDS + CHANCE.integers(0, 2, (120, 3))).astype(float), columns=["a", "b", "c"]),
    "gaussian": pd.DataFrame(100.0 + 5 * KINDS + CHANCE.normal(size=(120, 3)), columns=["x", "y", "z"]),
}


@pytest.mark.parametrize("visible", FRAMES)
def test_a_table(visible):
    X = FRAMES[visible]
    rbm = hm.RBM(4, visible=visible, n_updates=60, validation_fraction=0.25, random_state=0).fit(X[:100])
    found = reporting.findings(rbm, X[:100], X[100:], title="A <table>")
    assert [scores.part for scores in found.scores] == ["75 rows learned from", "25 rows held out", "20 test rows"]
    np.testing.assert_allclose(found.scores[2].model, rbm.score_samples(X[100:]), atol=1e-3)
    assert next(iter(found.scores[2].others)) == "independent columns"
    assert re.match(r"a mixture of \d+", [*found.scores[2].others][1])
    assert found.shape is None
    assert found.weights.shape == (4, len(found.names)) == (4, found.draws.shape[1])
    page = story.report(found)
    assert "<h1>A &lt;table&gt;</h1>" in page
    name = {"bernoulli": "bit &lt;0&gt;", "categorical": "a = 0", "gaussian": ">x<"}[visible]
    assert name in page
    assert f"−{-rbm.score(X[100:]):.2f}" in page
    assert "n_updates=60" in page
    assert not re.search(r"https?://|(src|href)=\"(?!data:|#)", page)
    assert not re.search(r"\bnan\b", page)


def test_baselines_are_densities_of_the_rows():
    """A mixture of one is the independent columns, also where columns are standardised inside."""
    X = FRAMES["gaussian"]
    rbm = hm.RBM(2, n_updates=20, random_state=0).fit(X)
    (scores,) = reporting.findings(rbm, X, None).scores
    alone, mixed = scores.others.values()
    moments = X.mean().to_numpy(), X.std(ddof=0).to_numpy()
    known = -0.5 * (((X - moments[0]) / moments[1]) ** 2 + np.log(2 * np.pi * moments[1] ** 2)).to_numpy()
    np.testing.assert_allclose(alone.mean(), known.sum(1).mean(), atol=0.05)
    assert mixed.mean() > alone.mean()  # there are two kinds of rows


def test_images_and_their_shape(tmp_path):
    X = hm.datasets.digits()[:200]
    with pytest.warns(UserWarning, match="have one value only"):
        rbm = hm.RBM(8, n_updates=20, random_state=0).fit(X)
    assert reporting.findings(rbm, None, None, shape=None).shape is None
    with pytest.raises(ArgumentError, match=r"shape: found .*wanted height × width = 64"):
        rbm.report(tmp_path / "r.html", X, shape=(7, 9))
    with pytest.raises(ArgumentError, match=r"X_test: found .*wanted .*64"):
        rbm.report(tmp_path / "r.html", X, X[:, :9])
    assert not (tmp_path / "r.html").exists()
    rbm.report(tmp_path / "r.html", X)
    assert "Weights of 8 of 8 hidden units" in (tmp_path / "r.html").read_text()


def test_a_model_without_data_or_history(tmp_path):
    rbm = hm.RBM.from_parameters(CHANCE.normal(size=(5, 3)), np.zeros(5), np.zeros(3))
    rbm.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "none: its parameters were given" in page
    assert "How it learned" not in page
    rbm.report(tmp_path / "r.html", X_test=BITS[:, :5])
    assert "On 120 test rows" in (tmp_path / "r.html").read_text()


def test_reports_repeat_and_leave_the_model_as_it_was(tmp_path):
    rbm = hm.RBM(3, n_updates=30, random_state=0).fit(BITS)
    again = hm.RBM(3, n_updates=30, random_state=0).fit(BITS)
    for name in ("a", "b"):
        rbm.report(tmp_path / name, BITS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    np.testing.assert_array_equal(rbm.sample(5, 10), again.sample(5, 10))
