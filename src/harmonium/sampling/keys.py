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
import numpy as np
from jax.extend.random import define_prng_impl
from jaxtyping import Array, Int, Key, UInt32

Raw = UInt32[Array, " 2"]
Word = UInt32[Array, "..."]

MULTIPLIERS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
ROUNDS = 10


def key(seed: int | Int[Array, ""]) -> Key[Array, ""]:
    """The random key of a seed."""
    return jax.random.key(seed, impl=ROWS)


@jax.jit
def _philox(k0: Word, k1: Word, x0: Word, x1: Word, x2: Word, x3: Word) -> tuple[Word, Word, Word, Word]:
    """The four words of Philox4x32-10 for a key and a counter: those of JAX's ``philox4x32``.

    Its own is not used because JAX 0.10 cannot compile it for several devices: ``mulhi`` has no form there.
    """
    for _ in range(ROUNDS):
        high0, high1 = _high(MULTIPLIERS[0], x0), _high(MULTIPLIERS[1], x2)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, MULTIPLIERS[1] * x2, high0 ^ x3 ^ k1, MULTIPLIERS[0] * x0
        k0, k1 = k0 + WEYL[0], k1 + WEYL[1]
    return x0, x1, x2, x3


def _high(a: np.uint32, x: Word) -> Word:
    """The upper word of a·x."""
    with jax.enable_x64(True):
        product = jax.lax.convert_element_type(x, np.uint64) * np.uint64(a)
        return jax.lax.convert_element_type(product >> np.uint64(32), np.uint32)


def _seed(seed: Array) -> Raw:
    zero = jnp.zeros((), jnp.uint32)
    bits = jax.lax.bitcast_convert_type(seed, jnp.uint32)  # of 64 bits, the lower word first
    low, high = (bits[0], bits[1]) if bits.ndim else (bits, zero)
    return jnp.stack(_philox(zero, zero, high, low, zero, zero)[:2])


def _split(raw: Raw, shape: tuple[int, ...]) -> UInt32[Array, "*shape 2"]:
    place = jnp.arange(prod(shape), dtype=jnp.uint32).reshape(shape)
    zero = jnp.zeros((), jnp.uint32)
    return jnp.stack(_philox(raw[0], raw[1], zero, zero, zero, place)[:2], axis=-1)


def _fold_in(raw: Raw, data: Array | int) -> Raw:
    zero = jnp.zeros((), jnp.uint32)
    return jnp.stack(_philox(raw[0], raw[1], zero, zero, zero, jnp.asarray(data, jnp.uint32))[:2])


def _random_bits(raw: Raw, bit_width: int, shape: tuple[int, ...]) -> Array:
    words = -(-bit_width // 32)
    *lead, n = shape or (1,)
    zero, two = jnp.zeros((), jnp.uint32), jnp.arange(2 * prod(lead), dtype=jnp.uint32).reshape(-1, 2)
    x0, x1, x2, x3 = _philox(raw[0], raw[1], zero, two, zero, zero)
    a, b = jnp.split(x0 ^ x1 ^ x2 ^ x3, 2, axis=1)
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
