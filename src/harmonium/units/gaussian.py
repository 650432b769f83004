"""Units on the whole real line."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.batchwise import spread
from harmonium.units.unit import Tails, Unit, Values, parameter, positive


class Gaussian(Unit):
    r"""x ∈ ℝ: E(x) = ½γx² - b·x, cgf = (b+I)²/2γ + ½log(2π/γ), ⟨x⟩ = (b+I)/γ, var(x) = 1/γ.

    Mean and variance are both parameters, in the natural form: precision γ = 1/σ², bias b = μ/σ².
    """

    bias: Float[Array, " n"]
    precision: Float[Array, " n"]

    domain: ClassVar[str] = "finite real numbers"
    positive: ClassVar[tuple[str, ...]] = ("precision",)

    def __init__(self, bias: int | Values, precision: Values = 1.0) -> None:
        self.bias = parameter(bias)
        self.precision = positive(precision, self.bias.shape, self.bias.dtype, "precision")

    @classmethod
    def from_moments(cls, mean: Values, variance: Values) -> "Gaussian":
        """The layer that has this mean and variance when nothing else acts on it."""
        mean = parameter(mean, "mean")
        precision = 1 / positive(variance, mean.shape, mean.dtype, "variance")
        return cls(mean * precision, precision)

    def moved(self, offset: Values, scale: Values) -> "Gaussian":
        """The layer of offset + scale·x."""
        precision = self.precision / jnp.asarray(scale, self.bias.dtype) ** 2
        return Gaussian(self.bias / jnp.asarray(scale, self.bias.dtype) + precision * jnp.asarray(offset), precision)

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "Gaussian":
        bias, log_precision = jax.random.normal(key, (2, n))
        return cls(bias, jnp.exp(log_precision / 2))

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        return (x**2) @ self.precision / 2 - x @ self.bias

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        precision = spread(self.precision, inputs.shape)
        # (θ/γ)·θ, not θ²/γ: θ² overflows first.
        field = self.field(inputs)
        return field / precision * field / 2 + jnp.log(2 * jnp.pi / precision) / 2

    def mean(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return self.field(inputs) / spread(self.precision, inputs.shape)

    def variance(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return spread(1 / self.precision, inputs.shape)

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return self.mean(inputs)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        noise = jax.random.normal(key, inputs.shape, inputs.dtype)
        return self.mean(inputs) + noise * jnp.sqrt(self.variance(inputs))

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return jnp.isfinite(x)

    def tails(self) -> Tails:
        return self.precision, self.precision
