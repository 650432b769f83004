"""One Gibbs sweep of an RBM against its two bare matrix products.

A sweep h ~ p(h|v), v ~ p(v|h) cannot cost less than the products vW and hWᵀ. The ratio says what the rest costs:
biases, sigmoids, random numbers, comparisons. Both are compiled, run on the same arrays, and timed in turns, so that
whatever else the machine does falls on both.
"""

import platform
import time
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import harmonium as hm
from harmonium.machine import Machine, State
from harmonium.sampling import gibbs

VISIBLE, HIDDEN, CHAINS, REPEATS = 784, 500, 1000, 100


@eqx.filter_jit
def sweep(key: Array, machine: Machine, state: State) -> State:
    """h ~ p(h|v), then v ~ p(v|h)."""
    return gibbs.step(key, machine, state)[0]


@jax.jit
def products(
    v: Float[Array, "chain n"], h: Float[Array, "chain m"], W: Float[Array, "n m"]
) -> tuple[Float[Array, "chain m"], Float[Array, "chain n"]]:
    """The two products and nothing else."""
    return v @ W, h @ W.T


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(work())
    return 1000 * (time.perf_counter() - start)


def spread(values: np.ndarray) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:7.2f}  ({low:.2f} to {high:.2f})"


def main() -> float:
    """Print the two times and their ratio; return the median ratio."""
    machine = hm.rbm(hm.Bernoulli(VISIBLE), hm.Bernoulli(HIDDEN), key=hm.key(0))
    state = gibbs.init(hm.key(1), machine, CHAINS)
    W = machine.couplings[0].matrix()
    jax.block_until_ready((sweep(hm.key(2), machine, state), products(*state, W)))  # compile

    times = np.empty((REPEATS, 2))
    for i in range(REPEATS):
        key = jax.block_until_ready(jax.random.fold_in(hm.key(3), i))
        works = [lambda key=key: sweep(key, machine, state), lambda: products(*state, W)]
        for j in (0, 1) if i % 2 else (1, 0):
            times[i, j] = milliseconds(works[j])

    ratio = times[:, 0] / times[:, 1]
    print(f"{VISIBLE} x {HIDDEN} Bernoulli units, {CHAINS} chains, {jnp.result_type(W)}, {REPEATS} repeats in turns")
    print(f"on {jax.devices()[0].device_kind} ({jax.default_backend()}, {platform.machine()}), JAX {jax.__version__}")
    print("median (and quartiles)")
    print(f"  Gibbs sweep          {spread(times[:, 0])} ms")
    print(f"  two matrix products  {spread(times[:, 1])} ms")
    print(f"  ratio                {spread(ratio)}")
    print("Learning has no benchmark yet: it arrives with the training loop.")
    return float(np.median(ratio))


if __name__ == "__main__":
    main()
