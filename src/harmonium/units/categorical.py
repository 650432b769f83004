"""Units that are one of K states (softmax, or Potts, units)."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from harmonium.errors import ArgumentError
from harmonium.units.unit import Unit, parameter


class Categorical(Unit):
    r"""x ∈ {e₁, …, e_K}, one-hot: E(x) = -Σₖ bₖxₖ, cgf = log Σₖ e^{bₖ+Iₖ}, ⟨xₖ⟩ = softmax(b+I)ₖ.

    ``Categorical((5, 3))`` has 5 units of 3 states each; ``Categorical(bias)`` takes an array of that shape.
    """

    bias: Float[Array, "n k"] = eqx.field(converter=parameter)

    one_hot: ClassVar[bool] = True
    domain: ClassVar[str] = "one-hot vectors of its K states"

    def __check_init__(self) -> None:
        if self.bias.ndim != 2 or self.bias.shape[1] < 2:
            raise ArgumentError("bias", f"shape {self.bias.shape}", "(units, states) with at least two states")

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "Categorical":
        return cls(jax.random.normal(key, (n, 3)))

    def energy(self, x: Float[Array, "*batch n k"]) -> Float[Array, "*batch"]:
        return -jnp.einsum("...nk,nk->...", x, self.bias)

    def cgf(self, inputs: Float[Array, "*batch n k"]) -> Float[Array, "*batch n"]:
        return jax.nn.logsumexp(self.field(inputs), axis=-1)

    def mean(self, inputs: Float[Array, "*batch n k"]) -> Float[Array, "*batch n k"]:
        return jax.nn.softmax(self.field(inputs), axis=-1)

    def variance(self, inputs: Float[Array, "*batch n k"]) -> Float[Array, "*batch n k"]:
        # P(k)·P(not k), the latter as a sum, since 1 - P(k) cancels where the unit is nearly certain.
        mean = self.mean(inputs)
        return mean * (mean @ (1 - jnp.eye(self.shape[-1], dtype=mean.dtype)))

    def mode(self, inputs: Float[Array, "*batch n k"]) -> Float[Array, "*batch n k"]:
        return jax.nn.one_hot(jnp.argmax(self.field(inputs), axis=-1), self.shape[-1], dtype=inputs.dtype)

    def with_mean(self, mean: Float[Array, "n k"]) -> "Categorical":
        log = jnp.log(jnp.maximum(mean, np.finfo(mean.dtype).tiny))
        return Categorical(log - log.mean(axis=-1, keepdims=True))

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n k"]) -> Float[Array, "*batch n k"]:
        # By the inverse of the cumulative distribution: one uniform a unit, where Gumbel noise needs K.
        cumulative = jnp.cumsum(self.mean(inputs), axis=-1)
        uniform = jax.random.uniform(key, inputs.shape[:-1], inputs.dtype)[..., None]
        state = jnp.sum(cumulative[..., :-1] <= uniform * cumulative[..., -1:], axis=-1)
        return jax.nn.one_hot(state, self.shape[-1], dtype=inputs.dtype)

    def contains(self, x: Float[Array, "*batch n k"]) -> Bool[Array, "*batch n"]:
        return jnp.all((x == 0) | (x == 1), axis=-1) & (jnp.sum(x, axis=-1) == 1)

    def states(self) -> Float[Array, "s k"]:
        return jnp.eye(self.shape[-1], dtype=self.bias.dtype)
