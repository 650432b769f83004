"""How the learning rate changes in the course of a run."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from harmonium.errors import ArgumentError

FLOOR = 0.01
"""No schedule falls below this share of its first rate: a run may go on past its planned end."""

SHAPES: dict[str, Callable[[Array], Array]] = {
    "constant": jnp.ones_like,
    "linear": lambda u: 1 - u,
    "cosine": lambda u: (1 + jnp.cos(jnp.pi * u)) / 2,
    "inverse": lambda u: 1 / (1 + 9 * u),
    "late": lambda u: jnp.minimum(1, 2 * (1 - u)),
}
"""The rate at the share u ∈ [0, 1] of a run, relative to the first: ``late`` falls in the second half only."""


class Schedule(eqx.Module):
    """The rate at each step. Its numbers are traced: another rate or another length compiles nothing."""

    rate: Float[Array, ""] = eqx.field(converter=lambda rate: jnp.asarray(rate, float))
    n_updates: Int[Array, ""] = eqx.field(converter=jnp.asarray)
    shape: str = eqx.field(default="constant", static=True)

    def __check_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ArgumentError("schedule", repr(self.shape), f"one of {', '.join(SHAPES)}")

    def at(self, step: Int[Array, ""]) -> Float[Array, ""]:
        """The rate of a step."""
        done = jnp.minimum(step.astype(self.rate.dtype) / jnp.maximum(self.n_updates, 1), 1)
        return self.rate * jnp.maximum(SHAPES[self.shape](done), FLOOR)
