r"""Inputs from numbers rounded to bfloat16, where the processor multiplies those faster.

States of 0, 1 and -1 lose nothing; weights keep 8 bits, and their products are summed in float32. Gradients, and the
parameters that they change, are not rounded: what is learned with is W rounded, what is learned is W.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.batchwise import product_moves
from harmonium.couplings import Dense
from harmonium.machine import Machine


class Rounded(Dense):
    """A dense coupling whose ``forward`` and ``backward`` multiply rounded numbers."""

    def forward(self, x: Float[Array, "*batch left"]) -> Float[Array, "*batch right"]:
        """The input the right layer receives from the left one."""
        return _product(x, self.matrix().reshape(x.shape[-1], -1), 0)

    def backward(self, y: Float[Array, "*batch right"]) -> Float[Array, "*batch left"]:
        """The input the left layer receives from the right one."""
        return _product(y, self.matrix().reshape(-1, y.shape[-1]), 1)


def rounded(machine: Machine) -> Machine:
    """The machine with ``Rounded`` in place of ``Dense`` couplings: the same parameters."""
    return _with(machine, Rounded)


def plain(machine: Machine) -> Machine:
    """The machine, or a gradient in its shape, with ``Dense`` couplings again."""
    return _with(machine, Dense)


def _with(machine: Machine, kind: type[Dense]) -> Machine:
    couplings = tuple(kind(c.weights, c.mask) if isinstance(c, Dense) else c for c in machine.couplings)
    changed: Machine = eqx.tree_at(lambda m: m.couplings, machine, couplings)
    return changed


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _product(x: Array, matrix: Array, axis: int) -> Array:
    """The last axis of x and one of the matrix contracted."""
    contracted = ((x.ndim - 1,), (axis,)), ((), ())
    numbers = x.astype(jnp.bfloat16), matrix.astype(jnp.bfloat16)
    return jax.lax.dot_general(*numbers, contracted, preferred_element_type=matrix.dtype)


@_product.defjvp
def _product_jvp(axis: int, primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (x, matrix), (x_moves, matrix_moves) = primals, tangents
    factors = (matrix.T, x_moves, matrix_moves.T) if axis else (matrix, x_moves, matrix_moves)
    return _product(x, matrix, axis), product_moves(x, *factors)
