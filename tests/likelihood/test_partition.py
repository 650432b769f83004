"""log Z as an interval: right where it says so, and not believed where chains miss what they cannot see."""

import json
import os

import numpy as np
import pytest

import harmonium as hm
from harmonium.likelihood import partition
from harmonium.likelihood.interval import AGREE, DO_NOT_TRUST, NOT_MIXED, Interval
from harmonium.likelihood.verdict import judged


@pytest.fixture
def annealed_only(monkeypatch):
    """So that machines can be small enough to know the answer."""
    monkeypatch.setattr(partition, "MAX_WORK", 0)


def two_modes(n=40, n_hidden=8, tilt=0.0):
    """All units off, or all on: Gibbs never crosses; with ``tilt`` the second mode has e^(n·tilt) times the weight."""
    return hm.rbm(
        hm.Bernoulli(np.full(n, tilt - n_hidden / 2)), hm.Bernoulli(np.full(n_hidden, -n / 2)), np.ones((n, n_hidden))
    )


def golf_hole(n=40):
    """A pattern that one hidden unit holds, with half of the probability: no path of visible units leads there."""
    chance = np.random.default_rng(0)
    pattern = chance.choice([0.0, 1.0], n)
    weights = np.column_stack([np.where(pattern > 0, 8.0, -8.0), 0.1 * chance.normal(size=(n, 7))])
    bias = np.zeros(8)
    bias[0] = -8 * pattern.sum() + n * np.log(2)
    return hm.rbm(hm.Bernoulli(n), hm.Bernoulli(bias), weights), pattern


def test_small_machines_are_exact():
    found = partition.log_partition(two_modes(), hm.key(0))
    assert found == Interval.exact(found.estimate)
    assert found.width == 0
    np.testing.assert_allclose(found.estimate, hm.exact.log_partition(two_modes()), rtol=1e-6)


@pytest.mark.parametrize("shape", ["rbm", "deep"])
def test_an_easy_machine_is_known_as_well_as_asked_for(annealed_only, shape):
    chance = np.random.default_rng(0)
    machine = {
        "rbm": lambda: hm.rbm(hm.Bernoulli(12), hm.Spin(20), 0.3 * chance.normal(size=(12, 20))),
        "deep": lambda: hm.deep(*[hm.Bernoulli(6)] * 3, weights=[chance.normal(size=(6, 6)) for _ in range(2)]),
    }[shape]()
    log_z = float(hm.exact.log_partition(machine))
    for seed, width in ((0, 0.5), (1, 0.1)):
        found = partition.log_partition(machine, hm.key(seed), width=width, budget=2_000_000)
        assert found.verdict == AGREE
        assert found.width <= width
        assert found.lower < log_z < found.upper


@pytest.mark.parametrize("case", ["in the middle", "base in one", "base in one, rows there, too", "tilted"])
def test_chains_all_in_one_of_two_modes_are_not_trusted(annealed_only, case):
    """On their way up, all sit in the first mode and agree to 0.01 nats, and are wrong."""
    machine = two_modes(tilt=0.05 if case == "tilted" else 0.0)
    means = [np.full(40, 0.02)] if "base" in case else None
    chains = [np.zeros((50, 40))] if "rows" in case else None
    found = partition.log_partition(machine, hm.key(0), means, chains=chains, budget=200_000)
    log_z = float(hm.exact.log_partition(machine))
    assert found.standard_error < 0.05
    assert abs(found.estimate - log_z) > 0.5
    assert found.verdict == DO_NOT_TRUST
    assert "start where none arrives" in found.reason
    assert found.lower < log_z < found.upper


@pytest.mark.parametrize("rows", [True, False], ids=["rows", "no rows"])
def test_a_hole_that_is_not_on_the_way_is_found(annealed_only, rows):
    machine, pattern = golf_hole()
    chains = [np.tile(pattern, (5, 1))] if rows else None
    found = partition.log_partition(machine, hm.key(0), chains=chains, budget=200_000)
    assert abs(found.estimate - float(hm.exact.log_partition(machine))) > 0.5
    assert found.verdict == DO_NOT_TRUST


def test_verdicts_follow_from_weights():
    """Normal log weights in equilibrium: log w ~ N(-v/2, v) on the way up, and -log w ~ N(v/2, v) on the way down."""
    noise = np.random.default_rng(0).normal(size=(2, 400))
    verdicts = []
    for v in (0.1, 1.0, 8.0, 40.0):
        up, down = np.sqrt(v) * noise - v / 2
        found = judged(up, down)
        verdicts.append(found.verdict)
        assert found.lower < 0 < found.upper
        assert bool(found.reason) == (found.verdict != AGREE)
    assert verdicts == [AGREE, AGREE, NOT_MIXED, DO_NOT_TRUST]
    up, down = np.sqrt(0.1) * noise - 0.05
    assert judged(up, down - 1.0).verdict == NOT_MIXED  # the two differ by more than their errors explain
    few = np.where(np.arange(400) < 4, 12.0, 0.0)
    assert judged(up, down - few).verdict == NOT_MIXED
    assert judged(up, down - np.where(np.arange(400) < 40, 12.0, 0.0)).verdict == DO_NOT_TRUST


def test_weights_that_are_not_finite_are_not_trusted():
    found = judged(np.array([0.0, np.nan]), np.zeros(2))
    assert found.verdict == DO_NOT_TRUST
    assert (found.lower, found.upper) == (-np.inf, np.inf)


def test_intervals_move_turn_and_can_be_written():
    z = Interval(1.0, 4.0, 2.0, 0.5, 30.0, NOT_MIXED, "annealed", "why")
    assert z.width == 3.0
    assert z.shifted(1.5) == Interval(2.5, 5.5, 3.5, 0.5, 30.0, NOT_MIXED, "annealed", "why")
    for one in (z, Interval.exact(2.0)):
        assert Interval.read(json.loads(json.dumps(one.written(), allow_nan=False))) == one
    assert z.taken_from(10.0) == Interval(6.0, 9.0, 8.0, 0.5, 30.0, NOT_MIXED, "annealed", "why")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": -1.0}, "width: found -1.0"),
        ({"budget": 100}, "budget: found 100"),
        ({"chains": [np.zeros((3, 4))]}, "chains: found shape"),
        ({"chains": []}, "chains: found 0 arrays"),
    ],
)
def test_what_cannot_be_used_is_refused(annealed_only, arguments, message):
    with pytest.raises(hm.ArgumentError, match=message):
        partition.log_partition(two_modes(), hm.key(0), **arguments)


@pytest.fixture(scope="module")
def published():
    if "HARMONIUM_DATA" not in os.environ:
        pytest.skip("HARMONIUM_DATA, the folder of the published data sets, is not set")
    given = hm.datasets.published_rbm()
    model = hm.RBM.from_parameters(given.weights, given.visible_bias, given.hidden_bias)
    return model, hm.datasets.load("binarized_mnist")


def test_a_small_budget_for_the_published_rbm_is_not_trusted(published):
    """And pixels in another order are another distribution: both published numbers, to what a small budget allows."""
    model, splits = published
    found = model.evaluate(splits.test, budget=60_000)
    assert found.verdict == DO_NOT_TRUST
    assert found.log_partition.lower < 451.28 < found.log_partition.upper
    turned = splits.test.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784)
    # The difference between the two orders has no log Z in it.
    assert model.score(splits.test) - model.score(turned) == pytest.approx(108.7 - 86.34, abs=0.1)


@pytest.mark.prove
def test_the_published_rbm(published):
    """Salakhutdinov & Murray (2008): log Z 451.28 and -86.34 on the test rows; the pixels transposed: -108.7."""
    model, splits = published
    found = model.evaluate(splits.test)
    assert found.verdict == AGREE
    assert found.log_likelihood.width <= 0.5
    assert found.log_partition.estimate == pytest.approx(451.28, abs=0.3)
    assert found.log_likelihood.estimate == pytest.approx(-86.34, abs=0.3)
    turned = splits.test.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784)
    assert model.score(turned) == pytest.approx(-108.7, abs=0.3)
