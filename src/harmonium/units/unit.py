"""What every unit type is: an exponential family, given by its energy and its cumulant generating function."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int, Key

from harmonium.batchwise import spread
from harmonium.errors import ArgumentError

Values = ArrayLike | Sequence[Any]
"""Numbers from a user: an array, one number, or nested sequences."""

Tails = tuple[Float[Array, " n"], Float[Array, " n"]]


class Unit(eqx.Module):
    r"""A layer of ``n`` independent units of one type, before anything is coupled to them.

    A configuration ``x`` of the layer has the weight ``m(x) exp(-E(x))``; every parameter enters E linearly.
    The rest of a machine acts on the layer only through an input ``I``, which adds ``-I·x`` to the energy, so that

        cgf(I) = log Σ_x m(x) exp(-E(x) + I·x),    ⟨x⟩ = ∂cgf/∂I,    var(x) = ∂²cgf/∂I².

    Everything that depends on the type of the data is here. Arrays are ``(..., n)``, or ``(..., n, K)`` where a unit
    is one of K states, written one-hot. After Barndorff-Nielsen (1978), *Information and Exponential Families*.
    """

    bias: eqx.AbstractVar[Float[Array, "n *k"]]

    one_hot: ClassVar[bool] = False
    domain: ClassVar[str]
    support: ClassVar[tuple[float, float]] = (-inf, inf)
    positive: ClassVar[tuple[str, ...]] = ()
    """The parameters that must stay positive; the others are free."""

    @classmethod
    def random(cls, key: Key[Array, ""], n: int) -> "Unit":
        """A layer of n units with random parameters of order one, for trials and tests."""
        return cls(jax.random.normal(key, (n,)))

    @abstractmethod
    def energy(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        """``E(x) - log m(x)``, summed over the units: ``(..., n) -> (...)``."""

    @abstractmethod
    def cgf(self, inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """Log of the unit's own partition function under ``inputs``, for each unit: ``(..., n[, K]) -> (..., n)``."""

    def mean(self, inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """⟨x⟩ = ∂cgf/∂I."""
        slope: Array = jax.grad(lambda i: jnp.sum(self.cgf(i)))(inputs)
        return slope

    def variance(self, inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """var(x) = ∂²cgf/∂I²."""
        slope: Array = jax.jvp(self.mean, (inputs,), (jnp.ones_like(inputs),))[1]
        return slope

    @abstractmethod
    def mode(self, inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """The likeliest configuration under ``inputs``."""

    @abstractmethod
    def sample(self, key: Key[Array, ""], inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """A draw of every unit under ``inputs``."""

    @abstractmethod
    def contains(self, x: Float[Array, "..."]) -> Bool[Array, "..."]:
        """Which values lie in the domain, for each unit: ``(..., n[, K]) -> (..., n)``."""

    def states(self) -> Float[Array, "s *k"] | None:
        """All values one unit can take, or None where they fill an interval (``support``)."""
        return None

    def tails(self) -> Tails | None:
        """The growth of the energy far out: E(x) → ½γx², as (γ for x → -∞, γ for x → +∞); inf where x cannot go.

        None for units whose values are bounded: they can be normalised whatever their input is.
        """
        return None

    @property
    def n(self) -> int:
        """Number of units."""
        return self.bias.shape[-1 - self.one_hot]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one configuration: ``(n,)``, or ``(n, K)`` for one-hot units."""
        return self.bias.shape

    def field(self, inputs: Float[Array, "..."]) -> Float[Array, "..."]:
        """Bias and input together: what multiplies x in ``-E(x) + I·x``."""
        return inputs + spread(self.bias, inputs.shape)

    def scaled(self, beta: Float[Array, ""] | float) -> "Unit":
        """The layer at inverse temperature ``beta``: E becomes βE; the reference measure m stays."""
        return self._map(lambda p: p * beta)

    def at(self, units: Int[Array, " m"]) -> "Unit":
        """The layer that holds only the given units (indices past the end repeat the last unit)."""
        return self._map(lambda p: jnp.take(p, units, axis=0, mode="clip"))

    def neutral(self) -> "Unit":
        """The layer of this type and shape with every free parameter 0 and every positive one 1."""

        def value(path: tuple[Any, ...], p: Array) -> Array:
            return jnp.full_like(p, path[-1].name in self.positive)

        parameters, rest = eqx.partition(self, eqx.is_inexact_array)
        neutral: Unit = eqx.combine(jax.tree_util.tree_map_with_path(value, parameters), rest)
        return neutral

    def with_mean(self, mean: Float[Array, "n *k"]) -> "Unit":
        """The layer whose units have this mean when nothing acts on them: only the biases change.

        By bisection, for ⟨x⟩ = ∂cgf/∂b grows with b. Biases are kept within ±2²⁰.
        """
        changed: Unit = eqx.tree_at(lambda u: u.bias, self, _bias_of_mean(self, mean))
        return changed

    def _map(self, change: Callable[[Array], Array]) -> "Unit":
        parameters, rest = eqx.partition(self, eqx.is_inexact_array)
        changed: Unit = eqx.combine(jax.tree.map(change, parameters), rest)
        return changed


@eqx.filter_jit
def _bias_of_mean(unit: Unit, mean: Array) -> Array:
    def at(bias: Array) -> Array:
        return unit.mean(bias - unit.bias)

    def widen(_: Array, width: Array) -> Array:
        return jnp.where((at(-width) > mean) | (at(width) < mean), 2 * width, width)

    def halve(_: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = (low + high) / 2
        below = at(middle) < mean
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    width = jax.lax.fori_loop(0, 20, widen, jnp.ones_like(unit.bias))
    low, high = jax.lax.fori_loop(0, 60, halve, (-width, width))
    bias: Array = (low + high) / 2
    return bias


def parameter(value: int | tuple[int, ...] | Values, name: str = "bias") -> Float[Array, "..."]:
    """An array of parameters; a number or tuple of whole numbers is a shape, and gives zeros.

    >>> parameter(3).tolist(), parameter([0.5, 1.0]).tolist()
    ([0.0, 0.0, 0.0], [0.5, 1.0])
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        value = (int(value),)
    if isinstance(value, tuple) and all(isinstance(v, int) for v in value):
        if any(size < 1 for size in value):
            raise ArgumentError(name, f"a layer of shape {value}", "at least one unit")
        return jnp.zeros(value)
    array = jnp.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        array = array.astype(float)
    require_finite(name, array)
    return array


def positive(value: Values, shape: tuple[int, ...], dtype: jnp.dtype, name: str) -> Float[Array, "..."]:
    """One positive parameter per unit, from a number or an array."""
    array = jnp.broadcast_to(jnp.asarray(value, dtype), shape)
    require_finite(name, array)
    if known(array) and bool((array <= 0).any()):
        raise ArgumentError(name, f"{float(array.min()):g}", "positive values: E grows like ½·precision·x²")
    return array


def require_finite(name: str, array: Array) -> None:
    """Refuse NaN and infinity, where the values are known (they are not while JAX traces)."""
    if known(array) and not bool(jnp.isfinite(array).all()):
        raise ArgumentError(name, "NaN or infinite values", "finite numbers")


def known(array: Array) -> bool:
    """Whether the values can be looked at now, or only stand for values to come (under ``jit`` or ``grad``)."""
    return not isinstance(array, jax.core.Tracer)
