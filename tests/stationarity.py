"""Does a sampler leave its distribution invariant? Started from exact draws, any drift in χ² is the sampler's fault.

Chains start at independent exact draws of the enumerated machine and make 1, 4 and 16 sweeps. If the kernel leaves the
distribution invariant, the chains are still independent exact draws, and their counts over cells are multinomial.

Power. For a drift of total variation δ between the chains' distribution q and the machine's p, Σ (q-p)²/p ≥ 4δ²
(Cauchy-Schwarz), so the noncentrality of χ² with n draws is at least 4nδ². ``draws_needed`` finds the n for which that
exceeds the critical value with probability 0.99. Where p itself is known only through exact draws (continuous units,
binned by the quantiles of a pilot sample), two samples are compared, and each must be twice as large.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import oracle
from scipy import stats

import harmonium as hm
from harmonium.machine import Machine
from harmonium.sampling import gibbs, run
from harmonium.sampling.folds import Fold

SWEEPS = (1, 4, 16)
BATCH = 5 * 2**13
POWER = 0.99


def draws_needed(cells: int, drift: float, false_alarm: float) -> int:
    """The number of draws with which a drift of this total variation is caught with probability 0.99."""
    freedom = cells - 1
    critical = stats.chi2.isf(false_alarm, freedom)
    low, high = 1.0, 1e5
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if stats.ncx2.sf(critical, freedom, middle) < POWER else (low, middle)
    return int(np.ceil(high / (4 * drift**2)))


class Last(Fold):
    """Only the last state."""

    def start(self, machine, state, n_draws):
        return state

    def add(self, total, machine, state, draw):
        return state


@dataclass
class Cells:
    """A partition of the configurations: each unit gets a few levels, and a cell is a combination of levels."""

    edges: list[np.ndarray]

    @classmethod
    def of(cls, columns: np.ndarray, most: int) -> "Cells":
        """Levels between the distinct values of discrete columns, at quantiles of continuous ones.

        Columns keep three levels while the product of all levels stays within ``most``, then two.
        """
        edges = []
        product = 2 ** columns.shape[1]
        for column in columns.T:
            levels = 3 if product * 3 // 2 <= most else 2
            seen = np.unique(column)
            if len(seen) <= levels:
                cut = (seen[1:] + seen[:-1]) / 2
            elif len(seen) <= 16:  # whole numbers or states: cut between values, near the quantiles
                wanted = np.quantile(column, np.arange(1, levels) / levels, method="lower")
                cut = np.unique(np.clip(wanted, seen[0], seen[-2])) + 0.5
            else:
                cut = np.quantile(column, np.arange(1, levels) / levels)
            product = product // 2 * (len(cut) + 1)
            edges.append(cut)
        return cls(edges)

    @property
    def count(self) -> int:
        return int(np.prod([len(edge) + 1 for edge in self.edges]))

    def counts(self, columns: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        index = np.zeros(len(columns), int)
        for column, edge in zip(columns.T, self.edges, strict=True):
            index = index * (len(edge) + 1) + np.searchsorted(edge, column)
        return np.bincount(index, weights, minlength=self.count)


def columns(state) -> np.ndarray:
    """One number a unit: the value, or the state's index."""
    arrays = (np.asarray(x) for x in state)
    return np.concatenate([x if x.ndim == 2 else x.argmax(axis=-1) for x in arrays], axis=1, dtype=float)


def check(
    machine: Machine,
    *,
    drift: float,
    false_alarm: float,
    clamp_like=None,
    sweeps=SWEEPS,
    seed: int = 0,
    most_cells: int = 36,
    kernel=gibbs.step,
    anywhere: bool = False,
    replicas=None,
) -> dict:
    """Raise AssertionError if the chains drift; say how many draws and cells were used.

    ``clamp_like`` maps the number of chains to a clamp: then chains start from exact draws, what is clamped keeps its
    value, and the joint distribution (clamped values included) must still be the machine's. With ``anywhere`` all
    chains start at one arbitrary configuration instead: a kernel that never moves some unit is invariant, but does not
    arrive. With both, what is clamped starts from exact draws and the rest from the arbitrary configuration: the joint
    distribution is the machine's only if the rest comes to follow its conditional distribution given what is clamped.

    A kernel of several replicas is given their machines: the rows of each must keep the distribution of theirs.
    """
    key = hm.key(seed)
    machines = (machine,) if replicas is None else replicas
    targets = [_Target.of(key, each, most_cells, drift, false_alarm) for each in machines]
    batches = max(-(-target.draws // BATCH) for target in targets)
    found = [np.zeros((len(sweeps), target.cells.count)) for target in targets]
    clamp = None if clamp_like is None else clamp_like(BATCH)
    for batch in range(batches):
        exact_key, fresh_key, run_key = jax.random.split(jax.random.fold_in(key, batch + 1), 3)
        parts = [
            hm.exact.sample(exact_key if replicas is None else jax.random.fold_in(exact_key, r), each, BATCH)
            for r, each in enumerate(machines)
        ]
        state = tuple(jnp.concatenate(layer) for layer in zip(*parts, strict=True))
        if anywhere:
            elsewhere = tuple(jnp.repeat(x, len(state[0]), axis=0) for x in gibbs.init(hm.key(1), machine, 1))
            state = elsewhere if clamp is None else _where(clamp, state, elsewhere)
        for target in targets:
            if target.expected is None:
                target.fresh += target.cells.counts(columns(hm.exact.sample(fresh_key, target.machine, BATCH)))
        done = 0
        for i, sweep in enumerate(sweeps):
            state, _ = run(
                run_key, machine, state, Last(), 1, thin=sweep - done, start=done, clamp=clamp, kernel=kernel
            )
            done = sweep
            for r, target in enumerate(targets):
                found[r][i] += target.cells.counts(columns([x[r * BATCH : (r + 1) * BATCH] for x in state]))
    for target, counted in zip(targets, found, strict=True):
        for sweep, counts in zip(sweeps, counted, strict=True):
            statistic, freedom = target.compared(counts, batches * BATCH)
            critical = stats.chi2.isf(false_alarm, freedom)
            assert statistic <= critical, (
                f"drift after {sweep} sweeps: chi2 {statistic:.1f} > {critical:.1f} ({freedom} df)"
            )
    last = {"cells": target.number, "draws": batches * BATCH, "known": target.expected is not None}
    return last | {"largest": statistic, "critical": critical}


@dataclass
class _Target:
    """What the chains of one machine are compared with: probabilities of cells, or exact draws where none are known.

    Rare combinations are pooled: a cell wants 10 expected counts for χ² to hold at small false-alarm rates.
    """

    machine: Machine
    cells: Cells
    pooled: np.ndarray
    expected: np.ndarray | None
    fresh: np.ndarray
    number: int
    draws: int

    @classmethod
    def of(cls, key, machine: Machine, most_cells: int, drift: float, false_alarm: float) -> "_Target":
        pilot = columns(hm.exact.sample(jax.random.fold_in(key, 0), machine, BATCH))
        cells = Cells.of(pilot, most_cells)
        pooled = cells.counts(pilot) < 20
        number = cells.count - int(pooled.sum()) + int(pooled.any())
        draws, expected = draws_needed(number, drift, false_alarm), None
        if all(oracle.discrete(unit) for unit in machine.layers):
            states, energies = oracle.joint(machine)
            probability = np.exp(-energies - oracle.log_sum_exp(-energies)).astype(float)
            layers = range(len(machine.layers))
            listed = columns([jnp.asarray(np.stack([s[layer] for s in states])) for layer in layers])
            expected = cells.counts(listed, probability)
        else:
            draws *= 2
        return cls(machine, cells, pooled, expected, np.zeros(cells.count), number, draws)

    def compared(self, counts: np.ndarray, total: int) -> tuple[float, int]:
        if self.expected is not None:
            return _one_sample(counts, self.expected * total, self.pooled)
        return _two_samples(counts, self.fresh, self.pooled)


def check_exact_draws(machine: Machine, *, batches: int, false_alarm: float, seed: int = 3) -> None:
    """Raise AssertionError unless the mean of every sufficient statistic over exact draws is the exact one.

    This ties the exact draws, and with them the two-sample tests above, to the enumeration: Student's t over
    sub-batches of 1,024 draws. The statistics of a Gaussian unit are x and -½x²: its variance is tested too.
    """

    @eqx.filter_jit
    def means(state):
        parts = tuple(x.reshape(BATCH // 1024, 1024, *x.shape[1:]) for x in state)
        return jax.vmap(machine.statistics)(parts)

    keys = [jax.random.fold_in(hm.key(seed), batch) for batch in range(batches)]
    rows = [jax.tree.leaves(means(hm.exact.sample(key, machine, BATCH))) for key in keys]
    found = [np.concatenate([np.asarray(leaf, float) for leaf in leaves]) for leaves in zip(*rows, strict=True)]
    exact = jax.tree.leaves(hm.exact.statistics(machine))
    comparisons = sum(leaf.size for leaf in exact)
    for sample, wanted in zip(found, exact, strict=True):
        error = sample.std(axis=0, ddof=1) / np.sqrt(len(sample)) + 1e-6
        worst = float(np.max(np.abs(sample.mean(axis=0) - np.asarray(wanted)) / error))
        critical = stats.t.isf(false_alarm / comparisons / 2, len(sample) - 1)
        assert worst <= critical, f"exact draws off by {worst:.1f} standard errors (critical {critical:.1f})"


def _where(masks, state, elsewhere):
    masks = (mask if x.ndim == 2 else mask[..., None] for mask, x in zip(masks, state, strict=True))
    return tuple(jnp.where(*entry) for entry in zip(masks, state, elsewhere, strict=True))


def _pool(counts, pooled):
    return np.append(counts[~pooled], counts[pooled].sum()) if pooled.any() else counts


def _one_sample(counts, expected, pooled):
    counts, expected = _pool(counts, pooled), _pool(expected, pooled)
    impossible = expected < 1e-9
    assert counts[impossible].sum() == 0, "configurations of probability zero were drawn"
    kept = ~impossible
    return ((counts - expected)[kept] ** 2 / expected[kept]).sum(), int(kept.sum()) - 1


def _two_samples(counts, fresh, pooled):
    counts, fresh = _pool(counts, pooled), _pool(fresh, pooled)
    kept = counts + fresh > 0
    return ((counts - fresh)[kept] ** 2 / (counts + fresh)[kept]).sum(), int(kept.sum()) - 1
