"""From rows of numbers to values of a visible layer, and back."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Encoding(eqx.Module):
    """How rows ``(batch, columns)`` become values ``(batch, *layer.shape)``."""

    @abstractmethod
    def values(self, rows: Float[Array, "batch columns"]) -> Float[Array, "batch *layer"]:
        """The values that rows stand for."""

    @abstractmethod
    def rows(self, values: Float[Array, "batch *layer"]) -> Float[Array, "batch columns"]:
        """The rows that values stand for."""


class Plain(Encoding):
    """A column is a unit."""

    def values(self, rows: Float[Array, "batch columns"]) -> Float[Array, "batch columns"]:
        return rows

    def rows(self, values: Float[Array, "batch columns"]) -> Float[Array, "batch columns"]:
        return values


class Codes(Encoding):
    """A column is a unit with K states, numbered from 0."""

    n_states: int = eqx.field(static=True)

    def values(self, rows: Float[Array, "batch columns"]) -> Float[Array, "batch columns k"]:
        return jax.nn.one_hot(rows.astype(int), self.n_states, dtype=rows.dtype)

    def rows(self, values: Float[Array, "batch columns k"]) -> Float[Array, "batch columns"]:
        return values @ jnp.arange(self.n_states, dtype=values.dtype)


class Standardised(Encoding):
    """A column is offset + scale·(its unit)."""

    offset: Float[Array, " columns"]
    scale: Float[Array, " columns"]

    def values(self, rows: Float[Array, "batch columns"]) -> Float[Array, "batch columns"]:
        return (rows - self.offset[None]) / self.scale[None]

    def rows(self, values: Float[Array, "batch columns"]) -> Float[Array, "batch columns"]:
        return self.offset[None] + self.scale[None] * values
