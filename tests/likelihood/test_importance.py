"""Importance sampling: estimates against exact sums, errors against how estimates of many groups spread."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import GRAPHS
from scipy import stats

import harmonium as hm
from harmonium.likelihood.importance import expectation

pytestmark = pytest.mark.usefixtures("float64")

GROUPS, DRAWS = 2000, 400
LIMIT = stats.norm.isf(1e-9)


def _case():
    """p and q over the eight states of three binary units, f of either sign, the exact mean, and many draws of q."""
    p, q = (GRAPHS["general"]().scaled(beta) for beta in (0.7, 0.3))
    x = np.array(np.meshgrid(*[[0.0, 1.0]] * 3, indexing="ij")).reshape(3, -1).T
    log_p, log_q = (np.asarray(hm.exact.log_probability(m, (jnp.asarray(x), None))) for m in (p, q))
    f = x @ np.array([1.0, -2.0, 0.5]) + 0.3
    return log_p, log_q, f, float(np.exp(log_p) @ f)


def _draws(log_q, shape):
    return np.random.default_rng(0).choice(len(log_q), size=shape, p=np.exp(log_q))


@pytest.mark.parametrize("normalised", [True, False], ids=["unbiased", "self-normalised"])
def test_the_mean_and_its_error(normalised):
    """The groups' estimates have the exact mean, and spread as each says.

    Self-normalised, the bias of order 1/n is far below what chance adds to the mean of the groups.
    """
    log_p, log_q, f, wanted = map(jnp.asarray, _case())
    places = _draws(np.asarray(log_q), (GROUPS, DRAWS))
    shift = 0.0 if normalised else 7.0  # a factor that nobody knows
    found = jax.vmap(lambda i: expectation(f[i], (log_p - log_q + shift)[i], normalised=normalised))(places)
    spread = np.std(found.value, ddof=1)
    assert abs(np.mean(found.value) - wanted) < LIMIT * spread / np.sqrt(GROUPS) + (0 if normalised else 5 / DRAWS**1.5)
    assert 0.9 < spread / np.sqrt(np.mean(found.standard_error**2)) < 1.1


def test_without_weights_it_is_the_plain_mean():
    values = np.random.default_rng(1).normal(size=(50, 3))
    found = expectation(jnp.asarray(values))
    np.testing.assert_allclose(found.value, values.mean(0))
    np.testing.assert_allclose(found.standard_error, stats.sem(values))
    np.testing.assert_allclose(found.ess, 50)


def test_the_optimal_proposal_has_no_variance():
    """q ∝ p·|f|: for f > 0 every draw gives the mean; for f of both signs no other q does better."""
    log_p, log_q, f, wanted = _case()
    positive = np.abs(f) + 0.1
    best = log_p + np.log(positive) - np.log(np.exp(log_p) @ positive)
    places = _draws(best, 20)
    found = expectation(positive[places], (log_p - best)[places], normalised=True)
    np.testing.assert_allclose(found.value, np.exp(log_p) @ positive, rtol=1e-12)
    assert found.standard_error < 1e-12
    best = log_p + np.log(np.abs(f)) - np.log(np.exp(log_p) @ np.abs(f))
    errors = []
    for proposal in (best, log_q, log_p):
        places = _draws(proposal, 200_000)
        found = expectation(f[places], (log_p - proposal)[places], normalised=True)
        errors.append(float(found.standard_error))
        assert abs(found.value - wanted) < LIMIT * found.standard_error
    assert errors[0] < 0.95 * min(errors[1:])


def test_what_cannot_be_averaged_is_refused():
    with pytest.raises(hm.ArgumentError, match="values: found 1 of them"):
        expectation(jnp.ones(1))
    with pytest.raises(hm.ArgumentError, match="log_weights: found shape"):
        expectation(jnp.ones(3), jnp.ones(2))
