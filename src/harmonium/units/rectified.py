"""Units on the half line x ≥ 0 (rectified linear units with exact conditionals)."""

from math import inf
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.batchwise import spread
from harmonium.units import truncated_normal
from harmonium.units.unit import Tails, Unit, Values, parameter, positive


class Rectified(Unit):
    r"""x ≥ 0: E(x) = ½γx² - b·x, a normal distribution cut at zero; with t = (b+I)/√γ, cgf = log R(t) - ½log γ.

    The exact form of the noisy rectified linear unit of Nair & Hinton (2010); see ``truncated_normal`` for R.
    """

    bias: Float[Array, " n"]
    precision: Float[Array, " n"]

    domain: ClassVar[str] = "finite numbers ≥ 0"
    support: ClassVar[tuple[float, float]] = (0.0, inf)
    positive: ClassVar[tuple[str, ...]] = ("precision",)

    def __init__(self, bias: int | Values, precision: Values = 1.0) -> None:
        self.bias = parameter(bias)
        self.precision = positive(precision, self.bias.shape, self.bias.dtype, "precision")

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "Rectified":
        bias, log_precision = jax.random.normal(key, (2, n))
        return cls(bias, jnp.exp(log_precision / 2))

    def _standard(self, inputs: Array) -> tuple[Array, Array]:
        root = spread(jnp.sqrt(self.precision), inputs.shape)
        return self.field(inputs) / root, root

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        return (x**2) @ self.precision / 2 - x @ self.bias

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t, root = self._standard(inputs)
        return truncated_normal.log_ratio(t) - jnp.log(root)

    def mean(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t, root = self._standard(inputs)
        return truncated_normal.mean(t) / root

    def variance(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t, root = self._standard(inputs)
        return truncated_normal.variance(t) / root**2

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t, root = self._standard(inputs)
        return jnp.maximum(t, 0) / root

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t, root = self._standard(inputs)
        return truncated_normal.sample(key, t) / root

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return jnp.isfinite(x) & (x >= 0)

    def tails(self) -> Tails:
        return jnp.full_like(self.precision, jnp.inf), self.precision
