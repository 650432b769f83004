r"""Where randomness comes from: Philox keys, and for every row of an array a stream of its own that costs little.

Keys are those of Philox4x32 (Salmon et al. 2011). The last axis of an array of random words is a row, for which Philox
gives two words (a, b). Word j of it is H(a + j·⌊2³²/φ⌋; b) with H(x; b) = f₂(f₁(x) + b). Here f₁ and f₂ multiply by odd
numbers between shifted xors: the halves of a 32-bit finaliser found by search (Wellons 2018, ``hash-prospector``).
For each j, H is a bijection of a: every word is exactly uniform, and rows are as independent as Philox makes them.
docs/results/generator.md shows that words of one row do not know each other.

A word costs two multiplications, fused with whatever uses it, where JAX 0.10 computes ten rounds of Philox for each. It
depends on the key, its row and its place only, not on how many there are.
"""

from math import prod

import jax
import jax.numpy as jnp
from jax.extend.random import define_prng_impl
from jaxtyping import Array, Key, UInt32

Raw = UInt32[Array, " 2"]

PHILOX = "philox4x32"


def key(seed: int) -> Key[Array, ""]:
    """The random key of a seed."""
    return jax.random.key(seed, impl=ROWS)


def _philox(raw: Raw) -> Key[Array, ""]:
    made: Array = jax.random.wrap_key_data(raw, impl=PHILOX)
    return made


def _seed(seed: Array) -> Raw:
    raw: Raw = jax.random.key_data(jax.random.key(seed, impl=PHILOX))
    return raw


def _split(raw: Raw, shape: tuple[int, ...]) -> UInt32[Array, "*shape 2"]:
    parts: Array = jax.random.key_data(jax.random.split(_philox(raw), shape))
    return parts


def _fold_in(raw: Raw, data: Array | int) -> Raw:
    return jax.random.key_data(jax.random.fold_in(_philox(raw), data))


def _random_bits(raw: Raw, bit_width: int, shape: tuple[int, ...]) -> Array:
    words = -(-bit_width // 32)
    *lead, n = shape or (1,)
    a, b = jnp.split(jax.random.bits(_philox(raw), (prod(lead), 2), "uint32"), 2, axis=1)
    place = words * jax.lax.broadcasted_iota("uint32", (1, n), 1)
    bits = _mixed(a + place * jnp.uint32(0x9E3779B9), b)
    if bit_width == 64:
        low = _mixed(a + (place + 1) * jnp.uint32(0x9E3779B9), b)
        bits = bits.astype("uint64") << 32 | low.astype("uint64")
    elif bit_width < 32:
        bits = (bits >> (32 - bit_width)).astype(f"uint{bit_width}")
    return bits.reshape(shape)


def _mixed(x: Array, b: Array) -> Array:
    """H(x; b)."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x21F0AAAD)
    x = ((x ^ (x >> 15)) + b) * jnp.uint32(0x735A2D97)
    return x ^ (x >> 15)


ROWS = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_random_bits, fold_in=_fold_in, name="philox_rows", tag="phr"
)
"""The implementation behind ``key``, as JAX's ``impl`` arguments take it."""
