r"""From log weights to an interval and a verdict: what chains on their ways up and down say of each other.

The mean of e^y over n draws of y comes near its expectation only if the draws reach to where e^y p(y) lies. For chains
on their way up that is what those on their way down show: n has to be large against exp(⟨-log w⟩ - log Z) (Jarzynski
2006, *Rare events and the convergence of exponentially averaged work values*). One chain on its way down that puts
log Z higher by more than log n starts at a place that has more than 1/n of the probability, in units of the probability
with which chains on their way up come there: they miss it, and no statistic of theirs can tell.
"""

from math import exp, inf, log, nan

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy import stats

from harmonium.likelihood.importance import Weights
from harmonium.likelihood.interval import AGREE, DO_NOT_TRUST, NOT_MIXED, Interval

SIGMA = 3.0
"""Standard errors from the estimate to either end."""

FAR = 4.0
"""Nats above log n: -log w of a chain that starts where chains on their way up arrive is not that far from log Z."""

FEW = 0.02
"""The share of chains that start far from where others arrive, above which more steps are not the remedy."""


def judged(up: Float[np.ndarray, " chain"], down: Float[np.ndarray, " chain"]) -> Interval:
    """The interval of log Z that log weights of chains on their ways up, and down, speak for.

    Where they do not agree its ends are also those that need no exponential average: ⟨log w⟩ ≤ log Z on the way up, and
    log Z ≤ ⟨-log w⟩ on the way down. The latter is a bound only if chains start at exact draws, which nobody can
    promise for a machine that needs annealing: the upper end is as good as the places that the chains start from.
    """
    if not (np.isfinite(up).all() and np.isfinite(down).all()):
        reason = "weights that are not finite: parameters of this size need float64"
        return Interval(-inf, inf, nan, inf, 0.0, DO_NOT_TRUST, "annealed", reason)
    upward, downward = Weights(jnp.asarray(up)), Weights(jnp.asarray(down))
    estimate, error = float(upward.estimate), float(upward.standard_error)
    other, other_error = -float(downward.estimate), float(downward.standard_error)
    n = len(up)
    excess = -down - estimate
    lost = float(np.mean(excess > log(n) + FAR))
    needed = exp(min(float(excess.mean()), 700.0))
    gap, doubt = abs(other - estimate), 4 * float(np.hypot(error, other_error)) + 0.1
    verdict, reason = AGREE, ""
    if gap > doubt:
        verdict, reason = NOT_MIXED, f"annealing up and down differ by {gap:.2g} nats"
    if needed > n / 10:
        verdict = NOT_MIXED if needed <= n else DO_NOT_TRUST
        reason = f"the weights of {n} chains vary too much: some {needed:.2g} are the least"
    if lost > 0:
        verdict = NOT_MIXED if lost <= FEW and verdict != DO_NOT_TRUST else DO_NOT_TRUST
        reason = f"{lost:.0%} of the chains on their way down start where none arrives on the way up"
    side = float(stats.t.isf(stats.norm.sf(SIGMA), n - 1)) * error
    lower, upper = estimate - side, estimate + side
    if verdict != AGREE:
        lower = min(lower, float(up.mean()) - SIGMA * _error(up))
        upper = max(upper, float(-down.mean()) + SIGMA * _error(down))
    return Interval(lower, upper, estimate, error, float(upward.ess), verdict, "annealed", reason)


def _error(values: Float[np.ndarray, " chain"]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
