"""All that a run carries from step to step, as one pytree: what a checkpoint holds."""

from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import SingleDeviceSharding
from jaxtyping import Array, Int, Key, PyTree

Model = TypeVar("Model")


class State(eqx.Module, Generic[Model]):
    """The model, its average, what optimiser and objective carry, the key of the run, and the number of steps made."""

    model: Model
    average: Model | None
    optimiser: PyTree
    objective: PyTree
    key: Key[Array, ""]
    step: Int[Array, ""]

    @property
    def result(self) -> Model:
        """The model to use: the average where there is one."""
        return self.model if self.average is None else self.average


def parameters(model: Model) -> Model:
    """The arrays that are learned; None in the place of everything else."""
    learned: Model = eqx.filter(model, eqx.is_inexact_array)
    return learned


def averaged(average: Model, model: Model, step: Int[Array, ""], emphasis: float) -> Model:
    r"""The running average after one more step, θ̄ ← θ̄ + (η+1)/(t+η)·(θ - θ̄), with t counted from 1.

    The weight of step t grows like t^η: η = 0 is the plain mean, and a larger η forgets the start of the run (Shamir &
    Zhang 2013, polynomial-decay averaging).
    """
    weight = (emphasis + 1) / (step + 1 + emphasis)

    def move(mean: Array, value: Array) -> Array:
        return mean + weight.astype(mean.dtype) * (value - mean)

    old, rest = eqx.partition(average, eqx.is_inexact_array)
    moved: Model = eqx.combine(jax.tree.map(move, old, parameters(model)), rest)
    return moved


def start(model: Model, optimiser: PyTree, objective: PyTree, key: Key[Array, ""], average: bool) -> State[Model]:
    """The state before the first step."""
    return State(model, model if average else None, optimiser, objective, key, jnp.zeros((), jnp.int32))


def at_home(state: State[Model]) -> State[Model]:
    """The state where it would be if one device had computed it: between chunks no one asks how many there are."""

    def home(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or isinstance(leaf.sharding, SingleDeviceSharding):
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(home(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
        return jnp.asarray(np.asarray(leaf))

    there: State[Model] = jax.tree.map(home, state)
    return there
