"""Machines whose Z is infinite are refused by name; machines whose Z is finite are not."""

import equinox as eqx
import numpy as np
import pytest

import harmonium as hm
from harmonium.normalisable import _strictly_copositive, require_normalisable

G, R, D = hm.Gaussian, hm.Rectified, hm.DualRectified


@pytest.mark.parametrize(
    ("a", "b", "weight", "fine"),
    [
        (G, G, 0.99, True),
        (G, G, 1.0, False),
        (G, G, -1.01, False),
        (R, R, 0.99, True),
        (R, R, 1.01, False),
        (R, R, -100.0, True),  # two units that are never negative: a negative coupling only helps
        (R, G, 0.99, True),
        (R, G, -1.01, False),  # the Gaussian unit can be negative
        (R, D, -0.99, True),
        (R, D, -1.01, False),
        (D, D, 1.01, False),
        (D, G, 0.99, True),
        (D, G, 1.01, False),
    ],
)
def test_one_unit_against_one(a, b, weight, fine):
    """With γ = 1 on both sides Q(x, y) = ½x² + ½y² - wxy: positive in the quadrants allowed, or not."""
    if fine:
        hm.rbm(a(1), b(1), np.array([[weight]]))
        return
    with pytest.raises(hm.NotNormalisableError) as error:
        hm.rbm(a(1), b(1), np.array([[weight]]))
    assert a.__name__ in str(error.value)
    assert b.__name__ in str(error.value)
    # A dual rectified unit that is as steep on either side counts as one on the real line.
    condition = "strictly copositive" if R in (a, b) else "positive definite"
    assert condition in str(error.value)


def test_the_sides_of_a_dual_rectified_unit_are_told_apart():
    """Steep on the left, flat on the right: only a coupling that drives it to the right can run away."""
    unit = D(1, precision_left=100.0, precision_right=1.0)
    hm.rbm(R(1), unit, np.array([[-5.0]]))
    with pytest.raises(hm.NotNormalisableError):
        hm.rbm(R(1), unit, np.array([[5.0]]))


def test_evaluating_or_sampling_a_machine_changed_afterwards_says_so_too():
    machine = hm.rbm(G(1), G(1), np.array([[0.5]]))
    broken = eqx.tree_at(lambda m: m.couplings[0].weights, machine, machine.couplings[0].weights * 4)
    for use in (
        lambda: hm.exact.log_partition(broken),
        lambda: hm.exact.statistics(broken),
        lambda: hm.exact.sample(hm.key(0), broken, 1),
        lambda: hm.sample(broken, hm.key(0), n_chains=2),
    ):
        with pytest.raises(hm.NotNormalisableError, match=r"'visible' \(Gaussian\) and 'hidden' \(Gaussian\)"):
            use()


def test_bounded_units_never_matter():
    hm.rbm(G(1), hm.Bernoulli(1), np.array([[1e6]]))
    hm.rbm(hm.Categorical((2, 3)), R(1), np.full((2, 3, 1), 1e6))


def test_within_a_layer():
    couplings = np.array([[0, 0.9, 0.9], [0.9, 0, 0.9], [0.9, 0.9, 0]])
    with pytest.raises(hm.NotNormalisableError, match=r"layer 'visible' \(Gaussian\) cannot"):
        hm.boltzmann(G(3), visible_weights=couplings)
    hm.boltzmann(G(3), visible_weights=-couplings / 2)


def test_copositivity_against_a_fine_grid_of_directions():
    """Random 3×3 forms: the verdict must agree with the sign of the minimum over 20,000 directions, where clear."""
    rng = np.random.default_rng(0)
    directions = rng.dirichlet(np.ones(3) * 0.7, 20_000)
    seen = {True: 0, False: 0}
    for _ in range(300):
        half = rng.normal(size=(3, 3))
        matrix = (half + half.T) / 2 + np.diag(rng.uniform(0.2, 2, 3))
        lowest = np.einsum("di,ij,dj->d", directions, matrix, directions).min()
        if abs(lowest) > 0.01:
            verdict = _strictly_copositive(matrix)
            assert verdict == (lowest > 0)
            seen[verdict] += 1
    assert min(seen.values()) > 30


HORN = np.array([[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1.0]])


def test_a_matrix_copositive_but_not_positive_definite():
    """Horn's form, copositive yet no sum of a semidefinite and a nonnegative one, is strictly copositive plus ε."""
    assert _strictly_copositive(HORN + 0.1 * np.eye(5)) is True
    assert _strictly_copositive(HORN - 0.1 * np.eye(5)) is False


def test_undecided_is_a_warning_not_a_verdict():
    """Four copies of Horn's form side by side outlast the budget, though each alone is decided at once."""
    form = np.kron(np.eye(4), HORN) + 0.1 * np.eye(20)
    assert _strictly_copositive(form) is None
    with pytest.warns(RuntimeWarning, match="layer 'x': whether .* could not be decided"):
        require_normalisable(np.full(20, np.inf), np.full(20, 2.0), 2 * np.eye(20) - form, "layer 'x'")


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_precisions_must_be_positive(bad):
    with pytest.raises(hm.ArgumentError, match=f"precision: found {bad:g}"):
        hm.Gaussian(3, bad)
