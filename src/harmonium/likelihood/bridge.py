r"""log Z along a ladder of machines: the ratio of each two neighbours from what their chains visit.

With u = F_r - F_r+1, the difference of the free energies of neighbours, ⟨exp(u)⟩ in r is Z_r+1/Z_r. The estimate that
uses the draws of both and has the least variance (Bennett 1976; Meng & Wong 1996) is e^c with

    ⟨σ(u - c)⟩ in r  =  ⟨σ(c - u)⟩ in r+1.

log Z is the sum of all c and of the log Z of the first machine, a sum of cgfs where that has no couplings. Chains (with
all their replicas) are independent of each other, draws and neighbours are not: the standard error comes from the share
of each chain in the estimate, linearised. It is right if the chains have forgotten where they began.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key
from scipy.optimize import brentq
from scipy.special import expit

from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.sampling import exchanged, stages
from harmonium.sampling.folds import Moments
from harmonium.units.unit import known


class Bridge(NamedTuple):
    """log Z, its standard error, and the mean probability of a swap for each two neighbours on the way.

    Where that is small for some pair, what their chains have in common is rare, and the error may be more than stated.
    """

    estimate: float
    standard_error: float
    swapped: Float[np.ndarray, " pair"]


def log_partition(
    machine: Machine,
    before: Sequence[Machine],
    key: Key[Array, ""],
    *,
    n_replicas: int = 10,
    n_chains: int = 100,
    n_draws: int = 100,
    warm_up: int = 100,
) -> Bridge:
    """log Z of a machine, along those ``before`` it, of which the first has no couplings (``path.base_machine``).

    >>> import harmonium as hm
    >>> from harmonium.path import base_machine
    >>> machine = hm.rbm(hm.Bernoulli(3), hm.Bernoulli(2))  # zero weights: Z = 2⁵
    >>> found = log_partition(machine, [base_machine(machine)], hm.key(0), n_replicas=2, n_chains=5, n_draws=2)
    >>> round(found.estimate, 4)
    3.4657
    """
    if n_chains < 2:
        raise ArgumentError("n_chains", f"{n_chains}", "at least 2, whose difference is the error")
    ladder = stages(before, n_replicas)
    if any(known(c.weights) and bool(jnp.any(c.matrix() != 0)) for c in before[0].couplings):
        raise ArgumentError("before", "couplings in the first machine", "none (see base_machine): log Z must be known")
    found = exchanged(machine, key, ladder, n_chains, n_draws, warm_up=warm_up, fold=Moments())
    first = sum(float(jnp.sum(unit.cgf(jnp.zeros_like(unit.bias)))) for unit in before[0].layers)
    ratio, error = log_ratio(*(np.asarray(rise, float) for rise in found.rises))
    return Bridge(first + ratio, error, np.asarray(found.swapped))


def log_ratio(
    here: Float[np.ndarray, "chain draw pair"], there: Float[np.ndarray, "chain draw pair"]
) -> tuple[float, float]:
    """log Z of the last machine less that of the first, and its standard error, from the rises u in r and in r+1."""
    total, shares = 0.0, np.zeros(len(here))
    for u, v in zip(np.moveaxis(here, -1, 0), np.moveaxis(there, -1, 0), strict=True):
        c = _balance(u, v)
        slope = np.mean(expit(u - c) * expit(c - u)) + np.mean(expit(v - c) * expit(c - v))
        shares += np.mean(expit(u - c) - expit(c - v), axis=1) / max(slope, np.finfo(float).tiny)
        total += c
    return total, float(np.std(shares, ddof=1) / np.sqrt(len(shares)))


def _balance(u: Float[np.ndarray, "chain draw"], v: Float[np.ndarray, "chain draw"]) -> float:
    """The c at which ⟨σ(u - c)⟩ = ⟨σ(c - v)⟩: their difference falls with c, and is zero between the extremes."""
    low, high = min(u.min(), v.min()), max(u.max(), v.max())
    if low == high:
        return float(low)
    return float(brentq(lambda c: np.mean(expit(u - c)) - np.mean(expit(c - v)), low, high, xtol=1e-12))
