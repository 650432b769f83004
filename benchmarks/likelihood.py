"""`transform`, free energies and annealed importance sampling: what one more row, or one more temperature, costs."""

import jax
import jax.numpy as jnp
import numpy as np

import harmonium as hm
from benchmarks import limits, peers
from benchmarks.harness import Contender, Row, race, table
from benchmarks.step import rows_of, starting
from harmonium.likelihood import annealed

VISIBLE, HIDDEN, ROWS, CHAINS = 784, 500, 10_000, 100


def measure(quick: bool) -> str:
    """Ours against scikit-learn, `rbms`, and the bare products."""
    return table([*_rows(10 if quick else 40), *_annealing(100 if quick else 1000, 6 if quick else 20)])


def _rows(rounds: int) -> list[Row]:
    X, start = rows_of(VISIBLE, ROWS), starting(VISIBLE, HIDDEN)
    ours, peer = hm.RBM.from_parameters(*start), peers.scikit_learn(start)
    works = {
        "transform": (lambda: ours.transform(X), lambda: peer.transform(X)),
        "free_energy": (lambda: ours.free_energy(X), lambda: peer._free_energy(X)),
    }
    lines = []
    for name, (our_work, peer_work) in works.items():
        contenders = [
            Contender(f"RBM.{name}", our_work, ROWS),
            Contender("scikit-learn", peer_work, ROWS),
            limits.hidden(VISIBLE, HIDDEN, ROWS),
        ]
        what = f"{name}, {VISIBLE} × {HIDDEN}, {ROWS:,} rows"
        lines += race(contenders, rounds).rows(what, f"RBM.{name}", {"scikit-learn": None, "one product": None})
    return lines


def _annealing(temperatures: int, rounds: int) -> list[Row]:
    # Weights of a size that a learned machine has: all must move at each temperature.
    W = np.random.default_rng(3).normal(0, 0.2, (VISIBLE, HIDDEN)).astype(np.float32)
    _, a, b = starting(VISIBLE, HIDDEN)
    machine = hm.rbm(hm.Bernoulli(jnp.asarray(a)), hm.Bernoulli(jnp.asarray(b)), W)

    def estimate() -> None:
        found = annealed.log_partition(machine, hm.key(0), n_chains=CHAINS, n_temperatures=temperatures)
        jax.block_until_ready(found.log_weights)

    contenders = [
        Contender("annealed.log_partition", estimate, temperatures),
        Contender("rbms", peers.rbms_annealing((W, a, b), CHAINS, temperatures), temperatures),
        limits.gibbs(VISIBLE, HIDDEN, CHAINS),
    ]
    what = f"AIS, {VISIBLE} × {HIDDEN}, {CHAINS} chains, a temperature of {temperatures:,}"
    return race(contenders, rounds).rows(what, "annealed.log_partition", {"rbms": None, "two products": None})
