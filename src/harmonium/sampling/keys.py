"""Where randomness comes from."""

import jax
from jaxtyping import Array, Key


def key(seed: int) -> Key[Array, ""]:
    """The random key of a seed.

    Philox (Salmon et al. 2011): counter-based, so that the number at place i of an array depends on the key and i only.
    """
    return jax.random.key(seed, impl="philox4x32")
