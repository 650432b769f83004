"""Gibbs sampling: what one more sweep of 1,000 chains costs."""

import jax
import jax.numpy as jnp

import harmonium as hm
from benchmarks import limits, peers
from benchmarks.harness import Contender, race, sized, table
from benchmarks.step import starting
from harmonium.sampling import gibbs

VISIBLE, HIDDEN, CHAINS = 784, 500, 1000


def measure(quick: bool) -> str:
    """Ours against PyTorch and the two products."""
    slice_s, rounds = (0.2, 8) if quick else (1.0, 20)
    start = starting(VISIBLE, HIDDEN)
    W, a, b = start
    machine = hm.rbm(hm.Bernoulli(jnp.asarray(a)), hm.Bernoulli(jnp.asarray(b)), W)
    state = gibbs.init(hm.key(1), machine, CHAINS)

    def sweeps(n: int) -> None:
        nonlocal state
        state, _ = jax.block_until_ready(hm.run(hm.key(2), machine, state, hm.Keep(), 1, thin=n))

    contenders: list[Contender] = [
        sized("harmonium.run", sweeps, slice_s),
        sized("PyTorch, eager", peers.torch_sweeps(start, CHAINS), slice_s),
        limits.gibbs(VISIBLE, HIDDEN, CHAINS),
    ]
    what = f"Gibbs sweep, {VISIBLE} × {HIDDEN}, {CHAINS:,} chains"
    wanted = {"PyTorch, eager": 2.0, "two products": 0.8}
    return table(race(contenders, rounds).rows(what, "harmonium.run", wanted))
