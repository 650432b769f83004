"""The least that a step can cost: its matrix products, and nothing else.

The products are made in a compiled loop in which each depends on those before it, so that the compiler can neither drop
nor hoist one: W has orthonormal columns (or rows), so that x ↦ xWWᵀ neither grows nor vanishes; of the outer products
one number is added up. The same products are also made by one compiled call on fixed arrays. Which
order of axes is best depends on sizes and versions: the limit is the fastest of the formulations, found anew each time.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks.harness import Contender, fastest, sized

Carry = tuple[Array, ...]


def learning(n_visible: int, n_hidden: int, batch: int) -> Contender:
    """The five products of a step of PCD-1: x·W, h·Wᵀ, v·W, and the outer products xᵀh, vᵀh."""
    x, W = _arrays(n_visible, n_hidden, batch)
    h, outer, zero = x @ W, jnp.zeros_like(W), jnp.zeros(())

    def upright(carry: Carry, W: Array) -> Carry:
        x, _, _, total = carry
        h = x @ W
        v = h @ W.T
        first, second = x.T @ h, v.T @ (v @ W)
        return v, first, second, total + first[0, 0] + second[0, 0]

    def turned(carry: Carry, U: Array) -> Carry:
        x, _, _, total = carry
        h = x @ U.T
        v = h @ U
        first, second = h.T @ x, (v @ U.T).T @ v
        return v, first, second, total + first[0, 0] + second[0, 0]

    def stacked(carry: Carry, W: Array) -> Carry:  # data above chains: products of both at once
        both, hidden, _, total = carry
        both = both.at[batch:].set(hidden[batch:] @ W.T)
        hidden = both @ W
        outer = both.T @ hidden
        return both, hidden, outer, total + outer[0, 0]

    at_once = jax.jit(lambda x, h, v, W: (x @ W, h @ W.T, v @ W, x.T @ h, v.T @ h))
    both = jnp.concatenate([x, x])
    ways = [
        sized("loop", _loop(upright, (x, outer, outer, zero), W)),
        sized("loop, W turned", _loop(turned, (x, outer.T, outer.T, zero), W.T)),
        sized("loop, stacked", _loop(stacked, (both, both @ W, outer, zero), W)),
        sized("calls", lambda n: [jax.block_until_ready(at_once(x, h, x, W)) for _ in range(n)]),
    ]
    return fastest(ways)._replace(name="five products")


def gibbs(n_visible: int, n_hidden: int, chains: int, name: str = "two products") -> Contender:
    """The two products of a sweep, or of a temperature: v·W and h·Wᵀ."""
    v, W = _arrays(n_visible, n_hidden, chains)
    h = v @ W
    at_once = jax.jit(lambda v, h, W: (v @ W, h @ W.T))
    ways = [
        sized("loop", _loop(lambda carry, W: ((carry[0] @ W) @ W.T,), (v,), W)),
        sized("loop, W turned", _loop(lambda carry, U: ((carry[0] @ U.T) @ U,), (v,), W.T)),
        sized("calls", lambda n: [jax.block_until_ready(at_once(v, h, W)) for _ in range(n)]),
    ]
    return fastest(ways)._replace(name=name)


def hidden(n_visible: int, n_hidden: int, rows: int) -> Contender:
    """The one product of ``transform`` and of the free energy: x·W."""
    x, W = _arrays(n_visible, n_hidden, rows)
    upright, turned = jax.jit(lambda x, W: x @ W), jax.jit(lambda x, U: x @ U.T)
    ways = [
        Contender("W", lambda: jax.block_until_ready(upright(x, W)), rows),
        Contender("W turned", lambda U=W.T: jax.block_until_ready(turned(x, U)), rows),
    ]
    return fastest(ways)._replace(name="one product")


def _arrays(n: int, m: int, batch: int) -> tuple[Array, Array]:
    chance = np.random.default_rng(0)
    tall = np.linalg.qr(chance.normal(size=(max(n, m), min(n, m))))[0].astype(np.float32)
    return jnp.asarray(chance.normal(size=(batch, n)), jnp.float32), jnp.asarray(tall if n >= m else tall.T)


def _loop(step: Callable[[Carry, Array], Carry], start: Carry, W: Array) -> Callable[[int], object]:
    @jax.jit
    def run(n: Array, carry: Carry, W: Array) -> Carry:
        return jax.lax.fori_loop(0, n, lambda _, carry: step(carry, W), carry)

    return lambda n: jax.block_until_ready(run(jnp.asarray(n), start, W))
