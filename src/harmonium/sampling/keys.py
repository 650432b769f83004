"""Where randomness comes from."""

import jax
from jaxtyping import Array, Key


def key(seed: int) -> Key[Array, ""]:
    """The random key of a seed.

    Philox (Salmon et al. 2011): counter-based, so that the number at place i of an array depends on the key and i only,
    and on CPUs two to three times faster than JAX's default. JAX 0.10 cannot compile it for several devices; any other
    JAX key serves there: ``jax.random.key(seed)``.
    """
    return jax.random.key(seed, impl="philox4x32")
