r"""Whether chains have mixed: R̂, the effective number of draws, and how long chains remember, by arviz-stats.

They are shown for a few numbers that a slow chain is slow in: the free energy of its visible units, and their place
along the strongest directions of the couplings, the first left singular vectors of W, in which a learned machine has
its modes.

R̂ compares the spread within each half of a chain with that of all halves together, after ranking (Vehtari, Gelman,
Simpson, Carpenter & Bürkner 2021): above 1.01, chains do not agree. The effective number of draws is that of
independent ones whose mean would be as good; the autocorrelation time is draws over it. None of them sees a mode in
which no chain has been.
"""

from collections.abc import Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium.errors import ArgumentError
from harmonium.machine import Machine, State


class Mixing(NamedTuple):
    """How well some number mixed: R̂, the effective number of draws, and the autocorrelation time in draws.

    NaN where it never changed: then nothing can be told.
    """

    r_hat: float
    ess: float
    time: float


def mixing(draws: Array | np.ndarray) -> Mixing:
    """The diagnostics of one number, at draws of several chains: ``(chain, draw)``."""
    from arviz_stats.base import array_stats  # it takes a second to import

    values = np.asarray(draws, float)
    if values.ndim != 2 or values.shape[1] < 4:
        raise ArgumentError("draws", f"shape {values.shape}", "(chain, draw), with at least four draws of each chain")
    if values.min() == values.max():
        return Mixing(np.nan, np.nan, np.nan)
    ess = float(array_stats.ess(values, method="mean"))
    return Mixing(float(array_stats.rhat(values)), ess, values.size / ess)


def diagnose(machine: Machine, draws: State, n_directions: int = 3) -> Mapping[str, Mixing]:
    """Those of the numbers in which a machine is slow, at draws of all its layers ``(chain, draw, *layer.shape)``."""
    return {name: mixing(values) for name, values in observed(machine, draws, n_directions).items()}


def observed(machine: Machine, draws: State, n_directions: int = 3) -> dict[str, Float[Array, "chain draw"]]:
    """The energy of draws, summable layers summed out, and their places along the first directions of the couplings."""
    lead = draws[0].shape[:2]
    rows = tuple(x.reshape(-1, *x.shape[2:]) for x in draws)
    summed = machine.summable()
    known = tuple(None if layer in summed else x for layer, x in enumerate(rows))
    found = {"free energy" if summed else "energy": machine.free_energy(known).reshape(lead)}
    kept = [layer for layer in range(len(rows)) if layer not in summed]
    values = jnp.concatenate([rows[layer].reshape(len(rows[layer]), -1) for layer in kept], axis=1)
    matrix = machine.coupling_matrix(range(len(rows)))
    ends = np.cumsum([0, *(unit.bias.size for unit in machine.layers)])
    of = np.concatenate([np.arange(ends[layer], ends[layer + 1]) for layer in kept])
    left, strengths, _ = np.linalg.svd(np.asarray(matrix, float)[of], full_matrices=False)
    rank = int(np.sum(strengths > 1e-6 * strengths.max(initial=0)))
    for i in range(min(n_directions, rank)):
        found[f"direction {i + 1}"] = (values @ jnp.asarray(left[:, i], values.dtype)).reshape(lead)
    return found
