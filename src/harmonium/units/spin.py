"""Units that are -1 or +1."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from harmonium.units.softplus import log_2cosh
from harmonium.units.unit import Unit, parameter


class Spin(Unit):
    r"""x ∈ {-1, +1}: E(x) = -b·x, cgf = log 2cosh(b+I), ⟨x⟩ = tanh(b+I)."""

    bias: Float[Array, " n"] = eqx.field(converter=parameter)

    domain: ClassVar[str] = "-1 or +1"

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        return -(x @ self.bias)

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return log_2cosh(self.field(inputs))

    def mean(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return jnp.tanh(self.field(inputs))

    def variance(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        # 1 - tanh² cancels where the unit is nearly certain; this product does not.
        field = self.field(inputs)
        return 4 * jax.nn.sigmoid(2 * field) * jax.nn.sigmoid(-2 * field)

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return jnp.where(self.field(inputs) > 0, 1, -1).astype(inputs.dtype)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        uniform = jax.random.uniform(key, inputs.shape, inputs.dtype)
        return jnp.where(uniform < jax.nn.sigmoid(2 * self.field(inputs)), 1, -1).astype(inputs.dtype)

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return jnp.abs(x) == 1

    def states(self) -> Float[Array, " s"]:
        return jnp.array([-1, 1], self.bias.dtype)
