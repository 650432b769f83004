"""Block Gibbs sampling: every layer in turn drawn from its conditional distribution given the rest.

Layers are taken in the machine's order, those of one colour after each other; since they do not touch, that is the
same as all at once. For an RBM a step is h ~ p(h|v), then v ~ p(v|h); for a deep machine, odd layers, then even
ones. A layer coupled within is swept colour by colour, each colour given the newest values of the others.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key, Scalar

from harmonium.couplings import Pairwise
from harmonium.machine import Machine, State
from harmonium.units import Unit

Clamp = tuple[Bool[Array, "..."] | bool, ...]
"""What is held fixed, for each layer: True or False for all of it, or a mask with a value for each row and unit."""


class Info(NamedTuple):
    """What a step did: for each layer, the share of its units (of all chains) that changed."""

    moved: tuple[Float[Array, ""], ...]


def init(key: Key[Array, ""], machine: Machine, n_chains: int) -> State:
    """Chains at independent draws of every layer under its bias alone."""
    return tuple(
        unit.sample(jax.random.fold_in(key, layer), jnp.zeros((n_chains, *unit.shape), unit.bias.dtype))
        for layer, unit in enumerate(machine.layers)
    )


def step(
    key: Key[Array, ""],
    machine: Machine,
    state: State,
    clamp: Clamp | None = None,
    beta: Scalar | float = 1.0,
    order: tuple[int, ...] | None = None,
) -> tuple[State, Info]:
    """One sweep over all layers at inverse temperature ``beta``; it leaves p(x)^β (given what is clamped) invariant.

    ``order`` replaces the machine's: hidden layers first, so that a sweep from data starts by looking at the data.
    """
    before = state
    clamp = clamp or (False,) * len(machine.layers)
    for layer in machine.order if order is None else order:
        held = clamp[layer]
        if held is True:
            continue
        x, unit = state[layer], machine.layers[layer].scaled(beta)
        mask = jnp.zeros(x.shape[:2], bool) if held is False else held
        inputs = beta * machine.inputs_from_others(state, layer)
        layer_key = jax.random.fold_in(key, layer)
        within, colours = machine.within(layer), machine.colours[layer]
        if within is None or colours is None:
            x = _unless(mask, x, unit.sample(layer_key, inputs))
        else:
            x = _sweep(layer_key, unit, within, colours, x, inputs, mask, beta)
        state = (*state[:layer], x, *state[layer + 1 :])
    return state, Info(tuple(_moved(old, new) for old, new in zip(before, state, strict=True)))


def _sweep(
    key: Key[Array, ""],
    unit: Unit,
    within: Pairwise,
    colours: Array,
    x: Array,
    inputs: Array,
    mask: Array,
    beta: Scalar | float,
) -> Array:
    """A layer's units colour by colour. Rows of ``colours`` are padded with an index that no unit has."""

    def update(x: Array, group: tuple[Array, Array]) -> tuple[Array, None]:
        index, units = group
        flat = within.inputs_to(units, x.reshape(len(x), -1))
        old = jnp.take(x, units, axis=1, mode="clip")
        received = jnp.take(inputs, units, axis=1, mode="clip") + beta * flat.reshape(old.shape)
        new = unit.at(units).sample(jax.random.fold_in(key, index), received)
        new = _unless(jnp.take(mask, units, axis=1, mode="clip"), old, new)
        return x.at[:, units].set(new, mode="drop"), None

    return jax.lax.scan(update, x, (jnp.arange(len(colours)), colours))[0]


def _unless(mask: Array, old: Array, new: Array) -> Array:
    return jnp.where(mask if old.ndim == 2 else mask[..., None], old, new)


def _moved(old: Array, new: Array) -> Array:
    changed = old != new if old.ndim == 2 else jnp.any(old != new, axis=-1)
    return jnp.mean(changed.astype(old.dtype))
