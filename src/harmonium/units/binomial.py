"""Units that count successes among a fixed number of trials."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import Array, Bool, Float, Key

from harmonium.errors import ArgumentError
from harmonium.units.softplus import softplus
from harmonium.units.unit import Unit, parameter


class Binomial(Unit):
    r"""x ∈ {0, …, N}: m(x) = C(N, x), E(x) = -b·x, cgf = N log(1 + e^{b+I}), ⟨x⟩ = N σ(b+I).

    A Binomial unit is the sum of N Bernoulli units that share bias and weights (Teh & Hinton 2001).
    """

    bias: Float[Array, " n"] = eqx.field(converter=parameter)
    trials: int = eqx.field(static=True)

    domain: ClassVar[str] = "whole numbers from 0 to its number of trials"

    def __check_init__(self) -> None:
        if self.trials < 1:
            raise ArgumentError("trials", f"{self.trials}", "at least one trial")

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "Binomial":
        return cls(jax.random.normal(key, (n,)), trials=4)

    def energy(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        log_choose = gammaln(self.trials + 1.0) - gammaln(x + 1) - gammaln(self.trials - x + 1)
        return -(x @ self.bias) - jnp.sum(log_choose, axis=-1)

    def cgf(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return self.trials * softplus(self.field(inputs))

    def mean(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return self.trials * jax.nn.sigmoid(self.field(inputs))

    def variance(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        field = self.field(inputs)
        return self.trials * jax.nn.sigmoid(field) * jax.nn.sigmoid(-field)

    def mode(self, inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return jnp.clip(jnp.floor((self.trials + 1) * jax.nn.sigmoid(self.field(inputs))), 0, self.trials)

    def sample(self, key: Key[Array, ""], inputs: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        # Trial by trial: exact for every mean, and up to about 150 trials also faster than jax.random.binomial.
        chance = jax.nn.sigmoid(self.field(inputs))

        def trial(i: Array, successes: Array) -> Array:
            uniform = jax.random.uniform(jax.random.fold_in(key, i), inputs.shape, inputs.dtype)
            return successes + (uniform < chance).astype(inputs.dtype)

        successes: Array = jax.lax.fori_loop(0, self.trials, trial, jnp.zeros_like(inputs))
        return successes

    def contains(self, x: Float[Array, "*batch n"]) -> Bool[Array, "*batch n"]:
        return (x >= 0) & (x <= self.trials) & (x == jnp.round(x))

    def states(self) -> Float[Array, " s"]:
        return jnp.arange(self.trials + 1, dtype=self.bias.dtype)
