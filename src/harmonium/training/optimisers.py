"""From gradients to steps: the usual optimisers by name, or any optax transformation."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Int, PyTree

from harmonium.errors import ArgumentError
from harmonium.training.schedules import Schedule

NAMES = ("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "lbfgs")


class Optimiser(eqx.Module):
    """An optax transformation, and the schedule of the rate by which its steps are multiplied.

    Optax descends and Harmonium climbs: the transformation is given the gradient of the negative objective, and its
    steps come out with the sign that optax users expect. ``searches``: it searches along a line, and asks for values.
    """

    transformation: optax.GradientTransformationExtraArgs = eqx.field(static=True)
    schedule: Schedule
    searches: bool = eqx.field(default=False, static=True)

    def init(self, parameters: PyTree) -> PyTree:
        """What the transformation carries from step to step."""
        return self.transformation.init(parameters)

    def step(
        self, gradient: PyTree, state: PyTree, parameters: PyTree, step: Int[Array, ""], **extra: Any
    ) -> tuple[PyTree, PyTree]:
        """The change of the parameters that a gradient (of ascent) leads to, and the next state."""
        down = jax.tree.map(lambda g: -g, gradient)
        updates, state = self.transformation.update(down, state, parameters, **extra)
        rate = self.schedule.at(step)
        return jax.tree.map(lambda u: rate.astype(u.dtype) * u, updates), state


def optimiser(chosen: str | optax.GradientTransformation, schedule: Schedule, momentum: float = 0.9) -> Optimiser:
    """An optimiser by name, at the rates of the schedule; or an optax transformation, whose own rate is multiplied."""
    if isinstance(chosen, optax.GradientTransformation):
        return Optimiser(_supported(chosen), schedule)
    if chosen not in NAMES:
        raise ArgumentError("optimizer", repr(chosen), f"one of {', '.join(NAMES)}, or an optax transformation")
    return Optimiser(_named(chosen, momentum), schedule, searches=chosen == "lbfgs")


@cache  # the same object for the same one: compiled code is found again
def _supported(transformation: optax.GradientTransformation) -> optax.GradientTransformationExtraArgs:
    return optax.with_extra_args_support(transformation)


@cache
def _named(name: str, momentum: float) -> optax.GradientTransformationExtraArgs:
    made = {
        "sgd": lambda: optax.sgd(1.0),
        "momentum": lambda: optax.sgd(1.0, momentum),
        "nesterov": lambda: optax.sgd(1.0, momentum, nesterov=True),
        "adagrad": lambda: optax.adagrad(1.0),
        "rmsprop": lambda: optax.rmsprop(1.0),
        "adam": lambda: optax.adam(1.0),
        "lbfgs": lambda: optax.lbfgs(),
    }[name]()
    return optax.with_extra_args_support(made)
