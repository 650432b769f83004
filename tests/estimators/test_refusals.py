"""Tables that cannot be used, given to every method of both estimators: an error that says why, and nothing altered."""

import numpy as np
import pytest
from scipy import sparse

import harmonium as hm

ROWS = np.repeat([[0.0, 0, 1, 1], [1, 1, 0, 0]], 10, axis=0)
HOLES = np.where(ROWS == 1, np.nan, 0)

BAD = {
    "no rows": (np.empty((0, 4)), "no rows"),
    "no columns": (np.empty((3, 0)), "no columns"),
    "one number": (3.0, r"shape \(\)"),
    "a vector": (ROWS[0], "Reshape your data"),
    "three axes": (ROWS[None], r"shape \(1, 20, 4\)"),
    "NaN": (HOLES, "NaN at row 0, column 2"),
    "infinity": (np.where(ROWS == 1, np.inf, 0), "inf at row 0, column 2"),
    "too large": (ROWS * 1e300, "too large for dtype"),
    "sparse NaN": (sparse.csr_array(HOLES), "NaN at row 0, column 2"),
    "complex": (ROWS * 1j, "Complex data not supported"),
    "text": ([["a", "b", "c", "d"]], "turn text"),
    "numbers as text": (ROWS.astype(str), "turn text"),
    "dates": (ROWS.astype("M8[s]"), "turn text, dates"),
    "None among numbers": ([[None, 1, 0, 1]], "NaN at row 0, column 0"),
    "objects": (np.array([[{}, 1, 0, 1]], object), "row 0, column 0"),
    "ragged": ([[1, 2, 3, 4], [1]], "cannot make an array"),
    "a dictionary": ({"a": 1}, "dict"),
    "a generator": ((row for row in ROWS), "generator"),
    "nothing": (None, "NoneType"),
}
METHODS = {
    "RBM": ("fit", "partial_fit", "transform", "score_samples", "free_energy", "gibbs", "inverse_transform"),
    "BernoulliRBM": ("fit", "partial_fit", "transform", "score_samples", "gibbs"),
}


@pytest.fixture(scope="module")
def fitted():
    return {
        "RBM": hm.RBM(4, n_updates=5, random_state=0).fit(ROWS),
        "BernoulliRBM": hm.BernoulliRBM(4, n_iter=1, random_state=0).fit(ROWS),
    }


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(("name", "method"), [(name, method) for name in METHODS for method in METHODS[name]])
def test_a_bad_table_is_named_and_nothing_altered(name, method, bad, fitted):
    (table, message), estimator = BAD[bad], fitted[name]
    before = dict(vars(estimator))
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        getattr(estimator, method)(table)
    assert str(caught.value).startswith("X: found")
    assert {k: id(v) for k, v in vars(estimator).items() if k != "_draws"} == {
        k: id(v)
        for k, v in before.items()
        if k != "_draws"  # the next draws may be others: no attribute of a model
    }


@pytest.mark.parametrize(("name", "method"), [(name, m) for name in METHODS for m in METHODS[name] if m != "fit"])
def test_a_width_that_changed_is_named(name, method, fitted):
    for table in (ROWS[:, :3], sparse.csr_array(ROWS[:, :3])):
        with pytest.raises(ValueError, match=r"3 (features|columns)"):
            getattr(fitted[name], method)(table)
