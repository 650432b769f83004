"""Parameters that must stay positive take steps in their logarithms: γ ← γ·e^δ, with gradient γ ∂/∂γ."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Scalar

from harmonium.machine import Machine


def enter(machine: Machine, gradient: Machine) -> Machine:
    """The gradient with respect to the logarithms of the positive parameters, as they are elsewhere."""
    return _changed(machine, gradient, lambda value, slope: value * slope)


def leave(machine: Machine, update: Machine) -> Machine:
    """A step of the logarithms as a step of the parameters, as they are elsewhere."""
    return _changed(machine, update, lambda value, step: value * jnp.expm1(step))


def place(machine: Machine) -> Machine:
    """The logarithms of the positive parameters, and the others."""
    return _changed(machine, eqx.filter(machine, eqx.is_inexact_array), lambda value, _: jnp.log(value))


def magnitudes(machine: Machine) -> dict[str, Scalar]:
    """The largest logarithms, either way: infinite or NaN where a parameter is not positive."""
    return {
        f"log {name} of layer {machine.names[layer]!r}": jnp.max(jnp.abs(jnp.log(getattr(unit, name))))
        for layer, unit in enumerate(machine.layers)
        for name in unit.positive
    }


def _changed(machine: Machine, tree: Machine, change: Callable[[Array, Array], Array]) -> Machine:
    places = [(layer, name) for layer, unit in enumerate(machine.layers) for name in unit.positive]
    if not places:
        return tree

    def at(m: Machine) -> list[Any]:  # arrays, or what stands in their places while equinox looks for them
        return [getattr(m.layers[layer], name) for layer, name in places]

    changed: Machine = eqx.tree_at(at, tree, [change(*pair) for pair in zip(at(machine), at(tree), strict=True)])
    return changed
