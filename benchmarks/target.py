"""The time to −90 nats on binarised MNIST with 500 hidden units, against `rbms` at its best settings of a small grid.

Models are looked at every few seconds, with the clock stopped: the mean log-likelihood of the validation rows, log Z by
our annealed importance sampling for both. Ours is `harmonium.RBM(500)` with nothing else set, compilation included.
Settings of `rbms`: rate × rows of a batch, as many chains, one Gibbs step. A run ends at the target or at its time
limit, so that a setting that has not arrived there says "at least".
"""

import time
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import torch
from rbms.bernoulli_bernoulli.classes import BBRBM

import harmonium as hm
from benchmarks import peers
from benchmarks.harness import grid
from benchmarks.step import parts
from harmonium.likelihood import annealed
from harmonium.path import base_machine
from harmonium.training import Course, Watch, follow

HIDDEN, TARGET, QUICK_TARGET, WANTED = 500, -90.0, -150.0, 4.0
RATES, BATCHES = (0.01, 0.03, 0.1), (100, 500)


class Look(NamedTuple):
    """A model in the course of a run: seconds of learning, updates made, and its parameters."""

    seconds: float
    updates: int
    parameters: peers.Parameters


class Arrival(NamedTuple):
    """Where a run ended: seconds, updates, and the last mean log-likelihood of the validation rows."""

    seconds: float
    updates: int
    score: float


def measure(quick: bool) -> str:
    """Ours, then each setting of `rbms` for at most six times as long (quick: two settings, a lower target)."""
    splits, target = hm.datasets.load("binarized_mnist"), QUICK_TARGET if quick else TARGET
    train, valid = (part.astype(np.float32) for part in (splits.train, splits.valid))
    base, temperatures = train.mean(axis=0), 200 if quick else 5000

    def score(parameters: peers.Parameters) -> float:
        W, a, b = parameters
        machine = hm.rbm(hm.Bernoulli(jnp.asarray(a)), hm.Bernoulli(jnp.asarray(b)), W)
        start = base_machine(machine, (base,))
        log_z = annealed.log_partition(machine, hm.key(0), n_temperatures=temperatures, base=start).estimate
        return float(-np.mean(hm.RBM.from_machine(machine).free_energy(valid)) - float(log_z))

    def until(looks: Iterator[Look], limit: float) -> Arrival:
        for look in looks:
            arrival = Arrival(look.seconds, look.updates, score(look.parameters))
            if arrival.score >= target or look.seconds > limit:
                return arrival
        return arrival

    score(
        (
            np.zeros((train.shape[1], HIDDEN), np.float32),
            np.zeros(train.shape[1], np.float32),
            np.zeros(HIDDEN, np.float32),
        )
    )  # compiled
    ours = until(_ours(train, 100 if quick else 500), np.inf)
    lines = [["harmonium.RBM(500)", *_cells(ours), "", ""]]
    settings = list(product(RATES, BATCHES))[-2:] if quick else product(RATES, BATCHES)
    for rate, batch in settings:
        arrival = until(_rbms(train, rate, batch, ours.seconds / 10), 6 * ours.seconds)
        ratio, arrived = arrival.seconds / ours.seconds, arrival.score >= target
        verdict = "✓" if ratio >= WANTED else "✗"
        cells = [f"{'' if arrived else 'at least '}**{ratio:.1f}**", f"≥ {WANTED:g} {verdict}"]
        lines.append([f"rbms, rate {rate:g}, batch {batch}", *_cells(arrival), *cells])
    head = ["model", "seconds", "updates", f"nats (target {target:g})", "times as long as ours", "wanted"]
    return grid(head, lines, left=1)


def _cells(arrival: Arrival) -> list[str]:
    return [f"{arrival.seconds:.1f}", f"{arrival.updates:,}", f"{arrival.score:.2f}"]


def _ours(X: np.ndarray, every: int) -> Iterator[Look]:
    begun, aside = time.perf_counter(), 0.0
    run, state, batches = parts(X, HIDDEN, 100)
    last = 20_000  # the whole of the default run
    for course in follow(run, Course(state), batches, last, Watch(every, lambda _: {})):
        step = int(course.state.step)
        if step % every == 0 or step == last:
            left = time.perf_counter()
            machine = course.result
            W, a, b = machine.couplings[0].weights, machine.layers[0].bias, machine.layers[1].bias
            yield Look(left - begun - aside, step, (np.asarray(W), np.asarray(a), np.asarray(b)))
            aside += time.perf_counter() - left


def _rbms(X: np.ndarray, rate: float, batch: int, every: float) -> Iterator[Look]:
    """Looks every so many seconds; batches are those of a new order in each epoch."""
    torch.manual_seed(0)
    begun, aside, due, updates = time.perf_counter(), 0.0, every, 0
    rows = torch.tensor(X)
    model = BBRBM.init_parameters(HIDDEN, SimpleNamespace(data=rows), torch.device("cpu"), torch.float32)
    step = peers.rbms_step(model, batch, rate, centred=True)
    while True:
        order = torch.randperm(len(rows))
        for first in range(0, len(rows) - batch + 1, batch):
            step(rows[order[first : first + batch]])
            updates += 1
            now = time.perf_counter()
            if now - begun - aside >= due:
                found = [tensor.detach().numpy() for tensor in (model.weight_matrix, model.vbias, model.hbias)]
                yield Look(now - begun - aside, updates, (found[0], found[1], found[2]))
                aside += time.perf_counter() - now
                due += every
