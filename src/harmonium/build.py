"""Machines from a sentence: the usual ones, with small random weights or the ones given."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from harmonium.couplings import Coupling, Dense, Edges, Within
from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.units import Spin, Unit
from harmonium.units.unit import Values


def rbm(
    visible: Unit | Sequence[Unit],
    hidden: Unit,
    weights: Values | Sequence[Values] | None = None,
    *,
    key: Key[Array, ""] | None = None,
    scale: float = 0.01,
) -> Machine:
    r"""A restricted Boltzmann machine: E(v, h) = E(v) + E(h) - vᵀWh, any unit type on either side.

    Several visible layers, of different types, share the hidden one. Without ``weights`` (one array for each visible
    layer) they are drawn from N(0, scale²) with ``key``, or zero without one.
    """
    layers = [visible] if isinstance(visible, Unit) else list(visible)
    names = ["visible"] if len(layers) == 1 else [f"visible{i + 1}" for i in range(len(layers))]
    given: list[Values | None] = [None] * len(layers)
    if weights is not None:
        given = [weights] if isinstance(visible, Unit) else list(weights)  # type: ignore[arg-type]
    if len(given) != len(layers):
        raise ArgumentError("weights", f"{len(given)} arrays", f"one for each of {len(layers)} visible layers")
    couplings: dict[tuple[str, str], Coupling] = {
        (name, "hidden"): Dense(_weights(w, (*layer.shape, *hidden.shape), _fold(key, i), scale, hidden))
        for i, (name, layer, w) in enumerate(zip(names, layers, given, strict=True))
    }
    return Machine({**dict(zip(names, layers, strict=True)), "hidden": hidden}, couplings, visible=names)


def deep(
    *layers: Unit, weights: Sequence[Values] | None = None, key: Key[Array, ""] | None = None, scale: float = 0.01
) -> Machine:
    """A deep Boltzmann machine: each layer joined to the next; ``visible``, then ``hidden1``, ``hidden2``, …"""
    if len(layers) < 2:
        raise ArgumentError("layers", f"{len(layers)}", "a visible layer and at least one hidden layer")
    names = ["visible", *(f"hidden{i}" for i in range(1, len(layers)))]
    given = [None] * (len(layers) - 1) if weights is None else list(weights)
    if len(given) != len(layers) - 1:
        raise ArgumentError("weights", f"{len(given)} arrays", f"{len(layers) - 1}, one between each two layers")
    couplings: dict[tuple[str, str], Coupling] = {
        (names[i], names[i + 1]): Dense(_weights(w, (*a.shape, *b.shape), _fold(key, i), scale, a))
        for i, (w, a, b) in enumerate(zip(given, layers[:-1], layers[1:], strict=True))
    }
    return Machine(dict(zip(names, layers, strict=True)), couplings)


def boltzmann(
    visible: Unit,
    hidden: Unit | None = None,
    *,
    visible_weights: Values | None = None,
    hidden_weights: Values | None = None,
    weights: Values | None = None,
) -> Machine:
    r"""A general Boltzmann machine: E = -vᵀWh - ½vᵀUv - ½hᵀPh - aᵀv - bᵀh, everything joined to everything.

    U, P and W (``visible_weights``, ``hidden_weights``, ``weights``) are zero where not given.
    """
    layers = {"visible": visible} if hidden is None else {"visible": visible, "hidden": hidden}
    couplings: dict[tuple[str, str], Coupling] = {
        ("visible", "visible"): Within(_weights(visible_weights, visible.shape * 2, None, 0.0, visible))
    }
    if hidden is not None:
        couplings["visible", "hidden"] = Dense(_weights(weights, (*visible.shape, *hidden.shape), None, 0.0, visible))
        couplings["hidden", "hidden"] = Within(_weights(hidden_weights, hidden.shape * 2, None, 0.0, hidden))
    elif weights is not None or hidden_weights is not None:
        raise ArgumentError("hidden", "no hidden layer but weights for one", "a hidden layer")
    return Machine(layers, couplings)


def ising(*shape: int, coupling: float = 1.0, field: float = 0.0, periodic: bool = True) -> Machine:
    """An Ising model on a grid (a torus if ``periodic``): E = -J Σ_⟨ij⟩ s_i s_j - B Σ_i s_i, with s = ±1.

    In units of temperature: ``coupling`` is βJ, ``field`` is βB. Units are numbered row by row.
    """
    sites = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = []
    for axis, length in enumerate(shape):
        if length > 1:
            ahead = np.roll(sites, -1, axis)
            inside = slice(None) if periodic and length > 2 else slice(length - 1)
            pairs += [np.moveaxis(a, axis, 0)[inside].ravel() for a in (sites, ahead)]
    edges = np.stack([np.concatenate(pairs[0::2]), np.concatenate(pairs[1::2])], axis=1)
    layer = Spin(jnp.full(sites.size, float(field)))
    return Machine({"spins": layer}, {("spins", "spins"): Edges(edges, float(coupling), sites.size)})


def _weights(
    given: Values | None, shape: tuple[int, ...], key: Key[Array, ""] | None, scale: float, like: Unit
) -> Float[Array, "..."]:
    if given is not None:
        return jnp.asarray(given)
    if key is None:
        return jnp.zeros(shape, like.bias.dtype)
    return scale * jax.random.normal(key, shape, like.bias.dtype)


def _fold(key: Key[Array, ""] | None, i: int) -> Key[Array, ""] | None:
    return None if key is None else jax.random.fold_in(key, i)
