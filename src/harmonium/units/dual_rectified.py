"""Units on the real line with a different half-normal on either side of zero (dReLU)."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.batchwise import spread
from harmonium.units import truncated_normal
from harmonium.units.unit import Tails, Unit, Values, parameter, positive


class DualRectified(Unit):
    r"""x ∈ ℝ: E(x) = ½γ₊x₊² + ½γ₋x₋² - b·x - k·|x|, with x₊ = max(x, 0) and x₋ = min(x, 0).

    Two rectified units back to back: with t± = (k ± (b+I))/√γ±, each side weighs e^{c±}, c± = log R(t±) - ½log γ±,
    and cgf = log(e^{c₊} + e^{c₋}). The kink k makes the density bimodal (k > 0) or peaked at zero (k < 0).
    Tubiana, Cocco & Monasson (2019), eLife 8:e39397, with θ± = k ± b.
    """

    bias: Float[Array, " n"]
    kink: Float[Array, " n"]
    precision_left: Float[Array, " n"]
    precision_right: Float[Array, " n"]

    domain: ClassVar[str] = "finite real numbers"
    positive: ClassVar[tuple[str, ...]] = ("precision_left", "precision_right")

    def __init__(
        self,
        bias: int | Values,
        kink: Values = 0.0,
        precision_left: Values = 1.0,
        precision_right: Values = 1.0,
    ) -> None:
        self.bias = parameter(bias)
        shape, dtype = self.bias.shape, self.bias.dtype
        self.kink = jnp.broadcast_to(parameter(jnp.asarray(kink, dtype), "kink"), shape)
        self.precision_left = positive(precision_left, shape, dtype, "precision_left")
        self.precision_right = positive(precision_right, shape, dtype, "precision_right")

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "DualRectified":
        bias, kink, log_left, log_right = jax.random.normal(key, (4, n))
        return cls(bias, kink, jnp.exp(log_left / 2), jnp.exp(log_right / 2))

    def _sides(self, inputs: Array) -> tuple[Array, Array, Array, Array]:
        """t and √γ of the right side, then of the left."""
        kink = spread(self.kink, inputs.shape)
        right = spread(jnp.sqrt(self.precision_right), inputs.shape)
        left = spread(jnp.sqrt(self.precision_left), inputs.shape)
        return (kink + self.field(inputs)) / right, right, (kink - self.field(inputs)) / left, left

    def _right_odds(self, inputs: Array) -> Array:
        """log P(x > 0)/P(x < 0)."""
        t_right, right, t_left, left = self._sides(inputs)
        return truncated_normal.log_ratio(t_right) - jnp.log(right) - truncated_normal.log_ratio(t_left) + jnp.log(left)

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        right, left = jnp.maximum(x, 0), jnp.minimum(x, 0)
        curvature = right**2 @ self.precision_right + left**2 @ self.precision_left
        return curvature / 2 - x @ self.bias - jnp.abs(x) @ self.kink

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t_right, right, t_left, left = self._sides(inputs)
        return jnp.logaddexp(
            truncated_normal.log_ratio(t_right) - jnp.log(right), truncated_normal.log_ratio(t_left) - jnp.log(left)
        )

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        t_right, right, t_left, left = self._sides(inputs)
        rightward = jnp.maximum(t_right, 0) >= jnp.maximum(t_left, 0)  # -E at its peak is t²/2 on either side
        return jnp.where(rightward, jnp.maximum(t_right, 0) / right, -jnp.maximum(t_left, 0) / left)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        side, size = jax.random.split(key)
        t_right, right, t_left, left = self._sides(inputs)
        uniform = jax.random.uniform(side, inputs.shape, inputs.dtype)
        rightward = uniform < jax.nn.sigmoid(self._right_odds(inputs))
        magnitude = truncated_normal.sample(size, jnp.where(rightward, t_right, t_left))
        return jnp.where(rightward, magnitude / right, -magnitude / left)

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return jnp.isfinite(x)

    def tails(self) -> Tails:
        return self.precision_left, self.precision_right
