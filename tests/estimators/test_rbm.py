"""The RBM estimator: what it learns, what it says of rows, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import sparse, stats

import harmonium as hm

TWO = np.repeat([[0.0, 0, 1, 1], [1, 1, 0, 0]], 50, axis=0)


@pytest.fixture(scope="module")
def two():
    """A model of two rows."""
    return hm.RBM(4, n_updates=2000, random_state=0).fit(TWO)


def test_two_rows_are_learned(two):
    assert two.score(TWO) > -1.2  # log ½ is the best, -2.77 that of independent columns
    assert two.log_partition_.method == "exact"
    drawn = two.sample(np.int64(300), n_steps=200)
    assert drawn.shape == (300, 4)
    kinds = np.unique(drawn, axis=0, return_counts=True)
    assert kinds[1].max() < 0.7 * 300  # both
    assert np.sort(kinds[1])[-2:].sum() > 0.5 * 300  # their probability is 0.64: below by chance once in 10⁶


def test_replica_exchange_draws_both_rows_also_along_the_run():
    """As ``annealing`` in the test above; here learning is by tempering, and the stages are those of the run."""
    rbm = hm.RBM(4, method="pt", n_temperatures=3, n_chains=50, stages=3, n_updates=2000, random_state=0).fit(TWO)
    assert rbm.score(TWO) > -1.3
    for method in ("tempering", "stages"):
        drawn = rbm.sample(300, n_steps=40, method=method)
        kinds = np.sort(np.unique(drawn, axis=0, return_counts=True)[1])
        assert kinds[-1] < 0.7 * 300
        assert kinds[-2:].sum() > 0.45 * 300
    with pytest.raises(hm.ArgumentError, match="method: found 'annealed'; wanted one of 'annealing'"):
        rbm.sample(2, method="annealed")


def test_what_it_says_of_rows_is_what_the_machine_says(two):
    machine, v = two.machine_, jnp.asarray(TWO, jnp.float32)
    exact = hm.exact.log_probability(machine, (v, None))
    np.testing.assert_allclose(two.score_samples(TWO), exact, rtol=1e-5)
    np.testing.assert_allclose(two.free_energy(TWO), machine.free_energy((v, None)), rtol=1e-5)
    hidden = 1 / (1 + np.exp(-(TWO @ two.components_.T + two.intercept_hidden_)))
    np.testing.assert_allclose(two.transform(TWO), hidden, rtol=1e-5)
    visible = 1 / (1 + np.exp(-(hidden @ two.components_ + two.intercept_visible_)))
    np.testing.assert_allclose(two.inverse_transform(hidden), visible, rtol=1e-5)
    assert two.score(TWO) == pytest.approx(two.score_samples(TWO).mean())
    assert two.components_.shape == (4, 4)


def test_gibbs_steps_are_drawn_from_the_conditionals(two):
    """The mean of v′ after h ~ p(h|v), v′ ~ p(v′|h): by enumeration of h; binomial counts, false alarms below 1e-6."""
    n, v = 20_000, np.array([[0.0, 0, 1, 1]])
    h = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T.astype(float)
    p = 1 / (1 + np.exp(-(v @ two.components_.T + two.intercept_hidden_)))
    weights = np.prod(np.where(h == 1, p, 1 - p), axis=1)
    wanted = weights @ (1 / (1 + np.exp(-(h @ two.components_ + two.intercept_visible_))))
    found = two.gibbs(np.repeat(v, n, axis=0)).mean(axis=0)
    assert (np.abs(found - wanted) < stats.norm.isf(1e-7) * np.sqrt(wanted * (1 - wanted) / n)).all()
    np.testing.assert_array_equal(two.gibbs(v, n_steps=0), v)


def test_the_same_seed_gives_the_same_model_and_draws():
    a, b = (hm.RBM(3, n_updates=100, random_state=5).fit(TWO) for _ in range(2))
    np.testing.assert_array_equal(a.components_, b.components_)
    first = a.sample(20, 20)
    np.testing.assert_array_equal(first, b.sample(20, 20))
    assert not np.array_equal(first, a.sample(20, 20))  # the next draws are new ones
    other = hm.RBM(3, n_updates=100, random_state=6).fit(TWO)
    assert not np.array_equal(a.components_, other.components_)


def test_every_kind_of_table_gives_the_same_model():
    X = np.random.default_rng(0).integers(0, 2, (30, 5))
    made = {
        "float64": X.astype(float),
        "bool": X.astype(bool),
        "list": X.tolist(),
        "column-major": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "explicit zeros": sparse.csr_array((np.append(X.ravel(), []), np.tile(range(5), 30), range(0, 151, 5))),
        "duplicates": sparse.coo_array(
            (np.tile(X.ravel() / 2, 2), tuple(np.tile(np.indices((30, 5)).reshape(2, -1), 2)))
        ),
    }
    read_only = X.astype(float)
    read_only.flags.writeable = False
    made["read-only"] = read_only
    models = {name: hm.RBM(2, n_updates=20, random_state=0).fit(table) for name, table in made.items()}
    for name, model in models.items():
        np.testing.assert_array_equal(model.components_, models["float64"].components_, err_msg=name)


def test_gaussian_columns_of_any_scale():
    """log p is a density of the table's own units, and free energies are those of the machine in them."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 2))
    X = np.column_stack([1e3 + 50 * z[:, 0], -0.02 + 1e-3 * z[:, 1]])
    rbm = hm.RBM(2, n_updates=1000, random_state=0).fit(X)
    truth = stats.multivariate_normal(X.mean(axis=0), np.cov(X.T)).logpdf(X).mean()
    assert abs(rbm.score(X) - truth) < 0.2
    grid = [np.linspace(m - 8 * s, m + 8 * s, 200) for m, s in zip(X.mean(axis=0), X.std(axis=0), strict=True)]
    points = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2)
    cell = np.prod([g[1] - g[0] for g in grid])
    assert np.exp(rbm.score_samples(points)).sum() * cell == pytest.approx(1, abs=1e-3)
    assert rbm.free_energy(X) + rbm.log_partition_.estimate == pytest.approx(-rbm.score_samples(X), abs=1e-2)
    drawn = rbm.sample(2000, 50)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.2 * X.std(axis=0).max(), rtol=0.1)
    np.testing.assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.2)


@pytest.mark.parametrize(
    ("visible", "table", "shape"),
    [
        ("spin", 2 * TWO - 1, (3, 4)),
        ("categorical", np.random.default_rng(0).integers(0, 3, (60, 4)), (3, 4, 3)),
        ("binomial", np.random.default_rng(0).integers(0, 5, (60, 4)), (3, 4)),
    ],
)
def test_other_types_of_columns(visible, table, shape):
    """Probabilities of all rows sum to one, and draws lie in the domain."""
    rbm = hm.RBM(3, visible=visible, n_updates=300, random_state=0).fit(table)
    assert rbm.components_.shape == shape
    values = np.unique(table)
    every = np.stack(np.meshgrid(*[values] * 4), axis=-1).reshape(-1, 4)
    assert np.exp(rbm.score_samples(every)).sum() == pytest.approx(1, abs=1e-4)
    assert set(np.unique(rbm.sample(50, 20))) <= set(values)
    assert rbm.gibbs(table[:3]).shape == (3, 4)
    assert rbm.inverse_transform(rbm.transform(table[:3])).shape == (3, 4)


@pytest.mark.parametrize("hidden", ["spin", "gaussian", "rectified", "dual_rectified"])
def test_other_types_of_hidden_units(hidden):
    rbm = hm.RBM(2, hidden=hidden, n_updates=2000, learning_rate=0.02, random_state=0).fit(TWO)
    every = np.array(np.meshgrid(*[[0.0, 1]] * 4)).reshape(4, -1).T
    assert np.exp(rbm.score_samples(every)).sum() == pytest.approx(1, abs=0.02)
    assert rbm.score(TWO) > -2.77  # better than independent columns


@pytest.mark.parametrize("method", ["exact", "cd", "pseudo"])
def test_every_method_learns(method):
    rbm = hm.RBM(3, method=method, n_updates=1500, random_state=0).fit(TWO)
    assert rbm.score(TWO) > -1.6


@pytest.mark.parametrize("method", ["exact", "pseudo"])
def test_lbfgs_takes_all_rows_at_once(method):
    rbm = hm.RBM(3, method=method, optimizer="lbfgs", n_updates=60, averaging=False, l2=1e-3, random_state=0).fit(TWO)
    assert rbm.score(TWO) > -1.2


@pytest.mark.parametrize("optimizer", ["momentum", "nesterov", "adagrad", "rmsprop", "adam", optax.sign_sgd(0.01)])
def test_every_optimiser_learns(optimizer):
    rbm = hm.RBM(3, optimizer=optimizer, n_updates=1500, random_state=0).fit(TWO)
    assert rbm.score(TWO) > -2.5


def test_validation_keeps_the_best_model_and_stops():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 12)) < 0.5).astype(float)  # nothing to learn: more updates only fit noise
    rbm = hm.RBM(
        32, n_updates=4000, l2=0.0, learning_rate=0.3, validation_fraction=0.3, patience=3, random_state=0
    ).fit(X)
    held = rbm.history_["validation_log_likelihood"]
    best = int(np.argmax(held))
    assert rbm.n_updates_ == rbm.history_["step"][min(best + 3, len(held) - 1)]
    assert rbm.n_updates_ < 4000
    last = hm.RBM(32, n_updates=4000, l2=0.0, learning_rate=0.3, random_state=0).fit(X)
    fresh = (rng.random((2000, 12)) < 0.5).astype(float)
    assert rbm.score(fresh) > last.score(fresh) + 0.5


def test_weights_are_repetitions():
    X = np.random.default_rng(0).integers(0, 2, (12, 4)).astype(float)
    w = np.array([0, 1, 2] * 4)
    a = hm.RBM(2, n_updates=50, dtype="float64", random_state=0).fit(X, sample_weight=w)
    b = hm.RBM(2, n_updates=50, dtype="float64", random_state=0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(a.components_, b.components_, rtol=1e-9)


def test_float64_is_float64():
    rbm = hm.RBM(2, n_updates=10, dtype="float64", random_state=0).fit(TWO)
    assert rbm.components_.dtype == np.float64
    assert rbm.machine_.layers[0].bias.dtype == jnp.float64
    assert not jax.config.jax_enable_x64


def test_constant_columns_are_named_and_stay_finite():
    X = np.column_stack([np.zeros(50), np.ones(50), np.arange(50) % 2])
    with pytest.warns(UserWarning, match=r"2 of 3 columns have one value only: 0, 1\."):
        rbm = hm.RBM(2, n_updates=3000, learning_rate=0.5, random_state=0).fit(X)
    # As if one more row had been seen, half on: P = 0.5/51 or 50.5/51.
    mean = np.asarray(hm.exact.statistics(rbm.machine_).layers[0].bias)
    np.testing.assert_allclose(mean[:2], [0.5 / 51, 50.5 / 51], atol=0.01)
    with pytest.warns(UserWarning, match="one value only"):
        gaussian = hm.RBM(2, n_updates=500, random_state=0).fit(np.column_stack([np.full(50, 7.0), np.arange(50.0)]))
    assert np.isfinite(gaussian.score_samples([[7.0, 3.0]])).all()


def test_published_parameters():
    """W is visible × hidden: with six visible and three hidden units, a transposed W does not fit."""
    rng = np.random.default_rng(0)
    w, a, b = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    rbm = hm.RBM.from_parameters(w, a, b, dtype="float64")
    v = rng.integers(0, 2, (5, 6)).astype(float)
    wanted = -v @ a - np.log1p(np.exp(v @ w + b)).sum(axis=1)
    np.testing.assert_allclose(rbm.free_energy(v), wanted, rtol=1e-12)
    np.testing.assert_array_equal(rbm.components_, w.T)
    with pytest.raises(hm.ArgumentError, match="weights"):
        hm.RBM.from_parameters(w.T, a, b)
    rbm.partial_fit(v)
    assert rbm.n_updates_ == 1
    with pytest.raises(hm.ArgumentError, match="hidden_bias: found what is no array of numbers"):
        hm.RBM.from_parameters(w, a, ["a"])


def test_divergence_stops_the_run_names_the_step_and_keeps_the_last_good_state():
    rbm = hm.RBM(3, learning_rate=1e9, n_updates=50, random_state=0)
    with pytest.raises(hm.DivergenceError, match=r"diverged in update \d+: found .*hidden") as caught:
        rbm.fit(TWO)
    assert np.isfinite(rbm.components_).all()
    assert rbm.n_updates_ == caught.value.step - 1


@pytest.mark.parametrize(
    "changed", [{"optimizer": "adam"}, {"dtype": "float64"}, {"method": "exact"}, {"n_components": 3}, {"n_chains": 7}]
)
def test_a_stream_keeps_what_shaped_it(changed):
    (name, value), rbm = next(iter(changed.items())), hm.RBM(2, random_state=0).partial_fit(TWO)
    before = dict(vars(rbm))
    rbm.set_params(**changed)
    with pytest.raises(hm.ArgumentError, match=f"{name}: found {value!r}, where learning began with"):
        rbm.partial_fit(TWO)
    assert {k: id(v) for k, v in vars(rbm).items()} == {k: id(v) for k, v in before.items()} | {name: id(value)}
    assert rbm.set_params(learning_rate=0.01, n_gibbs=2, l2=0.0, **{name: before[name]}).partial_fit(TWO) is rbm
    with pytest.raises(hm.ArgumentError, match="lbfgs"):
        hm.RBM(2, optimizer="lbfgs").partial_fit(TWO)


def test_a_model_without_stages_is_not_sampled_along_them(two):
    with pytest.raises(hm.ArgumentError, match=r"method: found 'stages' of a model without any; wanted .*stages=10"):
        two.sample(2, method="stages")


def test_sparse_rows_are_scored_as_dense_ones(two):
    np.testing.assert_array_equal(two.score_samples(sparse.csr_array(TWO)), two.score_samples(TWO))


def test_scores_do_not_depend_on_the_company(two):
    np.testing.assert_allclose(two.score_samples(TWO[:1]), two.score_samples(TWO)[:1], rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components: found 0; wanted a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components: found 2.5"),
        ({"visible": "ising"}, "visible: found 'ising'; wanted one of 'auto'"),
        ({"method": "gibbs"}, "method"),
        ({"learning_rate": -1.0}, "learning_rate: found -1.0; wanted one of 'auto', or a finite number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"batch_size": True}, "batch_size"),
        ({"n_updates": 0}, "n_updates"),
        ({"n_temperatures": 1}, "n_temperatures: found 1; wanted a whole number of at least 2"),
        ({"stages": -1}, "stages: found -1"),
        ({"optimizer": "sdg"}, "optimizer"),
        ({"optimizer": "lbfgs"}, "method: found 'pcd' with optimizer 'lbfgs'"),
        ({"sparsity_target": 0.0}, "sparsity_target"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"dtype": "float16"}, "dtype"),
        ({"resume": True}, "resume: found True without a checkpoint"),
    ],
)
def test_absurd_parameters_are_named_before_anything_is_altered(parameters, message):
    rbm = hm.RBM(2, random_state=0).set_params(**parameters)
    with pytest.raises(hm.ArgumentError, match=message):
        rbm.fit(TWO)
    assert not [name for name in vars(rbm) if name.endswith("_") or name.startswith("_")]


@pytest.mark.parametrize(
    ("X", "weights", "message"),
    [
        (np.empty((0, 3)), None, "no rows"),
        (np.empty((3, 0)), None, "no columns"),
        ([[0.0, np.nan]], None, "NaN at row 0, column 1"),
        ([[0.0], [np.inf]], None, "infinity"),
        ([["a", "b"]], None, "turn text"),
        (TWO, np.full(100, -1.0), "sample_weight: found -1.0 for row 0"),
        (TWO, np.zeros(100), "zero for every row"),
        (TWO, np.ones(99), "shape"),
        (TWO.ravel(), None, "Reshape your data"),
    ],
)
def test_bad_tables_are_named_before_anything_is_altered(X, weights, message):
    rbm = hm.RBM(2, n_updates=10, random_state=0).fit(TWO)
    before = dict(vars(rbm))
    with pytest.raises(ValueError, match=message):
        rbm.fit(X, sample_weight=weights)
    assert {k: id(v) for k, v in vars(rbm).items()} == {k: id(v) for k, v in before.items()}


@pytest.mark.parametrize(
    ("visible", "value"), [("bernoulli", 1.5), ("spin", 0.0), ("categorical", 0.5), ("binomial", -1.0)]
)
def test_values_outside_the_domain_are_named(visible, value):
    X = np.ones((5, 3))
    X[::2] = 0 if visible != "spin" else -1
    X[3, 1] = value
    with pytest.raises(hm.ArgumentError, match=f"{value:g} at row 3, column 1"):
        hm.RBM(2, visible=visible).fit(X)


def test_rows_that_changed_are_refused(two):
    with pytest.raises(ValueError, match="X has 3 features, but RBM is expecting 4 features as input"):
        two.transform(TWO[:, :3])
    with pytest.raises(hm.ArgumentError, match="2 at row 0, column 0"):
        two.score_samples(2 * TWO[50:])
    states = hm.RBM(2, visible="categorical", n_updates=10, random_state=0).fit([[0, 1], [1, 0]])
    with pytest.raises(hm.ArgumentError, match=r"below 2"):
        states.transform([[0, 2]])
    with pytest.raises(ValueError, match="features"):
        two.partial_fit(TWO[:, :3])
    with pytest.raises(hm.ArgumentError, match="n_steps"):
        two.gibbs(TWO, n_steps=-1)


def test_a_second_fit_compiles_nothing():
    """Another rate, strength, length and seed are other numbers in the same program."""
    from harmonium.training.loop import advance

    made = hm.RBM(3, n_updates=30, l1=0.1, random_state=0).fit(TWO)
    before = advance._cached._cache_size() if hasattr(advance, "_cached") else None
    hm.RBM(3, n_updates=60, l1=0.2, l2=0.3, learning_rate=0.02, random_state=1).fit(TWO)
    assert made.n_updates_ == 30
    if before is not None:
        assert advance._cached._cache_size() == before
