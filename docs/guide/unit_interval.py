"""Units on the interval from 0 to 1: the worked example of the guide "Adding a unit type"."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.units.unit import Unit, parameter


class UnitInterval(Unit):
    r"""x ∈ [0, 1]: E(x) = -b·x, an exponential distribution cut at 1; with θ = b+I, cgf = log((e^θ - 1)/θ).

    Its mean is 1/(1 - e^-θ) - 1/θ and its variance 1/θ² - 1/(4 sinh²(θ/2)); at θ = 0 it is uniform.
    """

    bias: Float[Array, " n"] = eqx.field(converter=parameter)

    domain: ClassVar[str] = "numbers from 0 to 1"
    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """-b·x."""
        return -(x @ self.bias)

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        """Two forms of log((e^θ - 1)/θ), neither of which sees the other's values."""
        field = self.field(inputs)
        near = jnp.abs(field) < 1
        # θ/2 + log(sinh(y)/y), with y = θ/2 and sinh(y)/y - 1 = y²/3! + y⁴/5! + …, nine terms.
        y = jnp.where(near, field, 0) / 2
        series = jnp.zeros_like(y)
        for k in range(9, 0, -1):
            series = y * y / (2 * k * (2 * k + 1)) * (1 + series)
        # max(θ, 0) + log((1 - e^-|θ|)/|θ|), where nothing overflows.
        size = jnp.where(near, 1, jnp.abs(field))
        far = jnp.maximum(field, 0) + jnp.log1p(-jnp.exp(-size)) - jnp.log(size)
        return jnp.where(near, y + jnp.log1p(series), far)

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        """The end that θ pulls to."""
        return (self.field(inputs) > 0).astype(inputs.dtype)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        """The distance d from the likelier end, with P(d < z) = (1 - e^-|θ|z)/(1 - e^-|θ|) inverted."""
        field = self.field(inputs)
        size = jnp.maximum(jnp.abs(field), jnp.finfo(field.dtype).eps)  # below that, uniform to rounding
        uniform = jax.random.uniform(key, inputs.shape, inputs.dtype)
        distance = jnp.clip(-jnp.log1p(uniform * jnp.expm1(-size)) / size, 0, 1)
        return jnp.where(field > 0, 1 - distance, distance)

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        """0 ≤ x ≤ 1."""
        return (x >= 0) & (x <= 1)
