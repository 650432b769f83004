"""Units that are 0 or 1."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.units.softplus import softplus
from harmonium.units.unit import Unit, parameter


class Bernoulli(Unit):
    r"""x ∈ {0, 1}: E(x) = -b·x, cgf = log(1 + e^{b+I}), ⟨x⟩ = σ(b+I).

    ``Bernoulli(784)`` has 784 units of zero bias; ``Bernoulli(bias)`` takes an array.
    """

    bias: Float[Array, " n"] = eqx.field(converter=parameter)

    domain: ClassVar[str] = "0 or 1"

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        return -(x @ self.bias)

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return softplus(self.field(inputs))

    def mean(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return jax.nn.sigmoid(self.field(inputs))

    def variance(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        field = self.field(inputs)
        return jax.nn.sigmoid(field) * jax.nn.sigmoid(-field)

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return (self.field(inputs) > 0).astype(inputs.dtype)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        uniform = jax.random.uniform(key, inputs.shape, inputs.dtype)
        return (uniform < self.mean(inputs)).astype(inputs.dtype)

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return (x == 0) | (x == 1)

    def states(self) -> Float[Array, " s"]:
        return jnp.arange(2, dtype=self.bias.dtype)
