"""What joins layers: pairwise energies, linear in the weights and in each of the two configurations.

A coupling knows its weights and nothing about units. Configurations reach it flattened, ``(..., width)``, where a
layer's width is n, or n·K for one-hot units; weights keep the shapes of the layers they join: ``(*left, *right)``.
"""

from abc import abstractmethod
from typing import TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from scipy.sparse import csr_array

from harmonium.batchwise import product
from harmonium.errors import ArgumentError
from harmonium.units.unit import Values, known, parameter

Shape = tuple[int, ...]
C = TypeVar("C", bound="Coupling")


class Coupling(eqx.Module):
    """Joins two layers (``Dense``), or the units of one layer with each other (``Pairwise``)."""

    weights: eqx.AbstractVar[Float[Array, "..."]]

    @abstractmethod
    def check(self, left: Shape, right: Shape) -> None:
        """Raise unless the weights fit layers of these shapes."""

    @abstractmethod
    def forward(self, x: Float[Array, "*batch left"]) -> Float[Array, "*batch right"]:
        """The input the right layer receives from the left one."""

    @abstractmethod
    def backward(self, y: Float[Array, "*batch right"]) -> Float[Array, "*batch left"]:
        """The input the left layer receives from the right one."""

    @abstractmethod
    def rescaled(self, left: Float[Array, "..."], right: Float[Array, "..."]) -> "Coupling":
        """Every weight times the factors of the two units it joins."""

    @abstractmethod
    def matrix(self) -> Float[Array, "..."]:
        """The weights as they act, masked and symmetrised, in the shape ``(*left, *right)``."""


class Dense(Coupling):
    r"""Between two layers: E(x, y) = -xᵀWy, with W of shape ``(*left, *right)``.

    For a Bernoulli layer of 784 and one of 500 units, W is ``(784, 500)``; for 50 Categorical units of 5 states and
    100 hidden units it is ``(50, 5, 100)``, the W_ij^k of the textbook. Where ``mask`` (broadcast against the
    weights) is False there is no connection, and the weight stays out of energy and gradient.
    """

    weights: Float[Array, "..."]
    mask: Bool[Array, "..."] | None

    def __init__(self, weights: Values, mask: Values | None = None) -> None:
        weights = parameter(jnp.asarray(weights), "weights")
        self.mask = None if mask is None else jnp.broadcast_to(jnp.asarray(mask, bool), weights.shape)
        self.weights = weights if self.mask is None else jnp.where(self.mask, weights, 0)

    def check(self, left: Shape, right: Shape) -> None:
        if self.weights.shape != (*left, *right):
            raise ArgumentError(
                "weights", f"shape {self.weights.shape}", f"{(*left, *right)}, to join {left} to {right}"
            )
        if self.mask is not None and known(self.mask):
            categories = [1] * (len(left) == 2) + [len(left) + 1] * (len(right) == 2)
            if bool((self.mask != jnp.all(self.mask, axis=categories, keepdims=True)).any()):
                raise ArgumentError(
                    "mask", "some states of a unit connected and others not", "one value a pair of units"
                )

    def forward(self, x: Float[Array, "*batch left"]) -> Float[Array, "*batch right"]:
        return product(x, self.matrix().reshape(x.shape[-1], -1))

    def backward(self, y: Float[Array, "*batch right"]) -> Float[Array, "*batch left"]:
        return product(y, self.matrix().reshape(-1, y.shape[-1]).T)

    def rescaled(self, left: Float[Array, "..."], right: Float[Array, "..."]) -> "Dense":
        return _with_weights(self, self.weights * _outer(left, right))

    def matrix(self) -> Float[Array, "..."]:
        return self.weights if self.mask is None else jnp.where(self.mask, self.weights, 0)


class Pairwise(Coupling):
    r"""Within one layer: E(x) = -½xᵀUx with U symmetric and zero on the diagonal, so that each pair counts once.

    Its units cannot be updated all at once; ``neighbours`` says which act on which, and ``inputs_to`` gives the
    inputs of a few units only, for updates unit by unit or colour by colour.
    """

    @abstractmethod
    def neighbours(self) -> csr_array:
        """The graph of which units act on each other: symmetric, a one for each connection."""

    @abstractmethod
    def inputs_to(self, units: Int[Array, " m"], x: Float[Array, "*batch width"]) -> Float[Array, "*batch part"]:
        """The input that the given units receive from all others, flattened."""

    def backward(self, y: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
        return self.forward(y)


class Within(Pairwise):
    r"""All pairs of one layer, or those that ``mask`` allows: U of shape ``(*layer, *layer)``.

    For n units of one number each, U is ``(n, n)``; for Potts units it is ``(n, K, n, K)``. The mask is ``(n, n)``.
    """

    weights: Float[Array, "..."]
    mask: Bool[Array, "n n"]

    def __init__(self, weights: Values, mask: Values | None = None) -> None:
        self.weights = parameter(jnp.asarray(weights), "weights")
        if self.weights.ndim not in (2, 4) or self._swapped().shape != self.weights.shape:
            raise ArgumentError("weights", f"shape {self.weights.shape}", "(n, n), or (n, K, n, K) for one-hot units")
        n = self.weights.shape[0]
        allowed = ~jnp.eye(n, dtype=bool)
        self.mask = allowed if mask is None else allowed & jnp.broadcast_to(jnp.asarray(mask, bool), (n, n))
        if known(self.weights):
            self._require_symmetric()

    def _require_symmetric(self) -> None:
        if not bool(jnp.array_equal(self.mask, self.mask.T)):
            raise ArgumentError("mask", "a pair allowed in one order only", "a symmetric mask")
        difference = float(jnp.abs(self.weights - self._swapped()).max())
        rounding = 64 * float(np.finfo(self.weights.dtype).eps * jnp.abs(self.weights).max())
        if difference > rounding:
            wanted = "a symmetric matrix; E = -½xᵀUx counts each pair once, so pass U + Uᵀ for an upper triangular U"
            raise ArgumentError("weights", f"entries that differ from their transpose by up to {difference:g}", wanted)
        diagonal = float(
            jnp.abs(jnp.where(self._spread(jnp.eye(self.mask.shape[0], dtype=bool)), self.weights, 0)).max()
        )
        if diagonal > 0:
            wanted = "zero on the diagonal: a unit does not act on itself"
            raise ArgumentError("weights", f"diagonal entries up to {diagonal:g}", wanted)

    def _swapped(self) -> Array:
        half = self.weights.ndim // 2
        return jnp.moveaxis(self.weights, range(half), range(half, 2 * half))

    def _spread(self, by_unit: Array) -> Array:
        return by_unit if self.weights.ndim == 2 else by_unit[:, None, :, None]

    def check(self, left: Shape, right: Shape) -> None:
        if self.weights.shape != (*left, *left):
            raise ArgumentError("weights", f"shape {self.weights.shape}", f"{(*left, *left)} for a layer of {left}")

    def rescaled(self, left: Float[Array, "..."], right: Float[Array, "..."]) -> "Within":
        return _with_weights(self, self.weights * _outer(left, right))

    def matrix(self) -> Float[Array, "..."]:
        return jnp.where(self._spread(self.mask), (self.weights + self._swapped()) / 2, 0)

    def forward(self, x: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
        return product(x, self.matrix().reshape(x.shape[-1], -1))

    def neighbours(self) -> csr_array:
        return csr_array(np.asarray(self.mask, int))

    def inputs_to(self, units: Int[Array, " m"], x: Float[Array, "*batch width"]) -> Float[Array, "*batch part"]:
        columns = jnp.take(self.matrix(), units, axis=self.weights.ndim // 2, mode="clip")
        return x @ columns.reshape(x.shape[-1], -1)


class Edges(Pairwise):
    r"""The pairs of one layer that a sparse graph lists: E(x) = -Σ_e w_e x_i x_j over edges e = (i, j).

    ``edges`` is ``(m, 2)``, each pair once, and ``weights`` has one number an edge. For layers whose units are one
    number each; memory and work grow with the number of edges, not with n². Each unit's edges are kept as a row of
    ``nearby`` (the unit at the other end) and ``edge_of`` (the weight's index), padded with an edge of weight 0.
    """

    weights: Float[Array, " m"]
    edges: Int[Array, "m 2"]
    nearby: Int[Array, "n d"]
    edge_of: Int[Array, "n d"]

    def __init__(self, edges: Values, weights: Values, n: int) -> None:
        pairs = np.asarray(edges)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise ArgumentError("edges", f"{pairs.dtype} of shape {pairs.shape}", "whole numbers of shape (edges, 2)")
        if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
            raise ArgumentError("edges", f"indices from {pairs.min()} to {pairs.max()}", f"0 to {n - 1}")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise ArgumentError("edges", "an edge from a unit to itself", "edges between different units")
        if len(np.unique(np.sort(pairs, axis=1), axis=0)) != len(pairs):
            raise ArgumentError("edges", "an edge listed more than once", "each pair once")
        self.edges = jnp.asarray(pairs)
        self.weights = jnp.broadcast_to(parameter(jnp.asarray(weights), "weights"), (len(pairs),))
        rows: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for e, (i, j) in enumerate(pairs.tolist()):
            rows[i].append((j, e))
            rows[j].append((i, e))
        degree = max(map(len, rows), default=0)
        padded = np.array([row + [(0, len(pairs))] * (degree - len(row)) for row in rows], int).reshape(n, degree, 2)
        self.nearby, self.edge_of = jnp.asarray(padded[..., 0]), jnp.asarray(padded[..., 1])

    def check(self, left: Shape, right: Shape) -> None:
        if left != (self.nearby.shape[0],):
            raise ArgumentError(
                "edges",
                f"a graph of {self.nearby.shape[0]} units of one number each",
                f"one for the layer's shape {left}; for one-hot units use Within with a mask",
            )

    def rescaled(self, left: Float[Array, " n"], right: Float[Array, " n"]) -> "Edges":
        return _with_weights(self, self.weights * left[self.edges[:, 0]] * right[self.edges[:, 1]])

    def matrix(self) -> Float[Array, "n n"]:
        n = self.nearby.shape[0]
        i, j = self.edges[:, 0], self.edges[:, 1]
        return jnp.zeros((n, n), self.weights.dtype).at[i, j].set(self.weights).at[j, i].set(self.weights)

    def forward(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return self.inputs_to(jnp.arange(self.nearby.shape[0]), x)

    def neighbours(self) -> csr_array:
        n = self.nearby.shape[0]
        i, j = np.asarray(self.edges).T
        ones = np.ones(2 * len(i), int)
        return csr_array((ones, (np.append(i, j), np.append(j, i))), shape=(n, n))

    def inputs_to(self, units: Int[Array, " m"], x: Float[Array, "*batch n"]) -> Float[Array, "*batch m"]:
        weights = jnp.append(self.weights, 0)[jnp.take(self.edge_of, units, axis=0, mode="clip")]
        return jnp.einsum("...md,md->...m", x[..., jnp.take(self.nearby, units, axis=0, mode="clip")], weights)


def _outer(left: Array, right: Array) -> Array:
    return left.reshape(*left.shape, *[1] * right.ndim) * right.reshape(*[1] * left.ndim, *right.shape)


def _with_weights(coupling: C, weights: Array) -> C:
    changed: C = eqx.tree_at(lambda c: c.weights, coupling, weights)
    return changed
