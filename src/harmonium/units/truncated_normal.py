r"""The normal distribution cut at zero, N(t, 1) on z ≥ 0: its normaliser, moments and draws, accurate for every t.

With φ and Φ the standard normal density and distribution function, let R(t) = Φ(t)/φ(t). Then

    log ∫₀^∞ e^{tz - z²/2} dz = log R(t),    ⟨z⟩ = t + 1/R(t) = (log R)',    var(z) = 1 - ⟨z⟩(⟨z⟩ - t) = (log R)''.

Far to the left both moments are small differences of large numbers. There we use the continued fraction of Laplace
for the tail, R(-s) = 1/(s + 1/(s + 2/(s + 3/(s + …)))) (Abramowitz & Stegun 26.2.14), whose parts are the moments.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr, ndtri
from jaxtyping import Array, Float, Key

T = Float[Array, "*shape"]

# Left of -FAR this many terms of the fraction (by bytes of the type) are exact to rounding; right of it the direct
# forms lose at most a factor 50 of the machine precision. (jax.scipy.special.erfcx would give R in one call, but in
# JAX 0.10 it returns 0 for arguments near 26.6.)
FAR = 3.0
TERMS = {4: 20, 8: 60}


def _fraction(s: T) -> tuple[T, T]:
    """⟨z⟩ and var(z) at t = -s for s ≥ FAR: with d = 1/(s + 3/(s + …)), ⟨z⟩ = 1/(s + 2d), var = ⟨z⟩(2d - ⟨z⟩)."""
    rest = s
    for k in range(TERMS[s.dtype.itemsize], 2, -1):
        rest = s + k / rest
    d = 1 / rest
    mean = 1 / (s + 2 * d)
    return mean, mean * (2 * d - mean)


def _hazard(t: T) -> T:
    """1/R(t) = φ(t)/Φ(t), for t ≥ -FAR."""
    # e^(-t²/2) is 0 beyond the clip, which keeps t² finite.
    return jnp.exp(-jnp.square(jnp.clip(t, -FAR, 1e3)) / 2) / (jnp.sqrt(2 * jnp.pi) * ndtr(jnp.maximum(t, -FAR)))


@jax.custom_jvp
def log_ratio(t: T) -> T:
    """log R(t): the log normaliser. Its derivative is ``mean``, and that of ``mean`` is ``variance``."""
    near, s = jnp.maximum(t, -FAR), jnp.maximum(-t, FAR)
    direct = near * near / 2 + jnp.log(jnp.sqrt(2 * jnp.pi) * ndtr(near))
    return jnp.where(t < -FAR, -jnp.log(s + _fraction(s)[0]), direct)


@jax.custom_jvp
def mean(t: T) -> T:
    """⟨z⟩."""
    near = jnp.maximum(t, -FAR)
    return jnp.where(t < -FAR, _fraction(jnp.maximum(-t, FAR))[0], near + _hazard(near))


def variance(t: T) -> T:
    """var(z)."""
    near = jnp.maximum(t, -FAR)
    hazard = _hazard(near)
    return jnp.where(t < -FAR, _fraction(jnp.maximum(-t, FAR))[1], 1 - (near + hazard) * hazard)


@log_ratio.defjvp
def _log_ratio_jvp(primals: tuple[T], tangents: tuple[T]) -> tuple[T, T]:
    return log_ratio(*primals), mean(*primals) * tangents[0]


@mean.defjvp
def _mean_jvp(primals: tuple[T], tangents: tuple[T]) -> tuple[T, T]:
    return mean(*primals), variance(*primals) * tangents[0]


def sample(key: Key[Array, ""], t: T) -> T:
    """A draw of z, by inverting its distribution function: one uniform a draw, for every t.

    Near zero and to the right, z = t - Φ⁻¹(u Φ(t)). Far to the left that is a difference of large numbers; there we
    solve P(Z > z) = u, that is z²/2 - tz - log R(t-z) + log R(t) = -log u, by Newton's method. The left side is
    convex and increasing in z with slope 1/R(t-z); leaving out the log R terms gives a start on the right of the
    root, from where three steps reach rounding error (the start is within 1/t² of the root).
    """
    # Halfway between the generator's grid points: never 0 or 1.
    uniform = jax.random.uniform(key, t.shape, t.dtype) + np.finfo(t.dtype).eps / 2
    near = jnp.maximum(t, -FAR)
    direct = jnp.maximum(near - ndtri(uniform * ndtr(near)), 0)

    far = jnp.minimum(t, -FAR)
    target = -jnp.log(uniform)

    def newton(_: Array, z: Array) -> Array:
        hazard = z - far + _fraction(z - far)[0]  # 1/R(t-z)
        return z - (z * z / 2 - far * z + jnp.log(hazard) + log_ratio(far) - target) / hazard

    # 2y/(|t| + √(t² + 2y)), written so that t² cannot overflow.
    start = 2 * target / -far / (1 + jnp.sqrt(1 + 2 * target / -far / -far))
    z = jax.lax.fori_loop(0, 3, newton, start)
    return jnp.where(t < -FAR, jnp.maximum(z, 0), direct)
