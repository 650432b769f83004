r"""Products and sums over the rows of a batch, with derivatives whose bits do not depend on the number of threads.

A gradient sums over rows in two ways: Σ g for a parameter that all rows share, and Σ xᵀg for a matrix that all are
multiplied by. On CPUs, XLA (of JAX 0.10) cuts some sums into as many parts as there are threads, and rounding then
depends on them: sums along the first axis of an array, and products of a transposed left factor with more than
``FEW`` rows to sum. It does not cut 1ᵀg, nor products of a left factor that lies in memory in the order of its rows.
"""

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

T = TypeVar("T")

FEW = 128
"""Rows over which a product sums as it is; for more its left factor is turned, which takes 1 to 3 % of a step."""


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def spread(parameter: Float[Array, "*own"], shape: tuple[int, ...]) -> Float[Array, "*batch_own"]:
    """The parameter for every row: broadcast to a shape that ends with its own."""
    return jnp.broadcast_to(parameter, shape)


@spread.defjvp
def _spread_jvp(shape: tuple[int, ...], primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (parameter,), (tangent,) = primals, tangents
    rows = jnp.ones(prod(shape[: len(shape) - parameter.ndim]), parameter.dtype)
    return spread(parameter, shape), jnp.tensordot(rows, tangent, axes=0).reshape(shape)


@jax.custom_jvp
def product(x: Float[Array, "*batch left"], matrix: Float[Array, "left right"]) -> Float[Array, "*batch right"]:
    """Every row times the matrix."""
    return x @ matrix


@product.defjvp
def _product_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    return product(*primals), product_moves(*primals, *tangents)


def product_moves(x: Array, matrix: Array, x_moves: Array, matrix_moves: Array) -> Array:
    """dx·M + x·dM, whose transpose in dM is the sum over rows."""
    if x.ndim == 2 and len(x) > FEW:
        x = jax.lax.platform_dependent(x, cpu=_turned, default=lambda x: x)
    return x_moves @ matrix + x @ matrix_moves


def _turned(x: Array) -> Array:
    """The same numbers, in memory column after column."""
    turned: Array = alone(lambda x: x.T, x[0, 0], x)
    return turned.T


def alone(function: Callable[..., T], number: Array, *arguments: PyTree) -> T:
    """``function(*arguments)``, compiled apart from all around it; ``number`` is one that is NaN only if they may be.

    XLA joins what makes an array to what uses it. It may make it twice, in another order, or with other rounding, for
    a product and a sum are one operation where they meet. On CPUs it looks through its own barriers, but not through a
    condition, though this one always holds.
    """

    def condition(number: Array, *arguments: PyTree) -> T:
        def always(*arguments: PyTree) -> T:
            return function(*arguments)

        shapes = jax.eval_shape(always, *arguments)

        def nowhere(*_: PyTree) -> T:
            nothing: T = jax.tree.map(lambda x: jnp.full(x.shape, jnp.nan, x.dtype), shapes)
            return nothing

        result: T = jax.lax.cond(number == number, always, nowhere, *arguments)
        return result

    def barrier(_: Array, *arguments: PyTree) -> T:
        result: T = jax.lax.optimization_barrier(function(*arguments))  # type: ignore[no-untyped-call]
        return result

    found: T = jax.lax.platform_dependent(number, *arguments, cpu=condition, default=barrier)
    return found
