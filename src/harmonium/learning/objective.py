"""What the training loop climbs: anything with ``init`` and ``step``."""

from abc import abstractmethod
from typing import Generic, NamedTuple, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, PyTree, Scalar

Model = TypeVar("Model")


class Batch(NamedTuple):
    """Values of the visible layers, the weight of each row, and the weight of a full batch.

    ``total`` is the weight of all rows, where these are only a part of a batch.
    """

    visible: tuple[Float[Array, "..."], ...]
    weights: Float[Array, " batch"]
    full: Float[Array, ""] | float
    total: Float[Array, ""] | None = None


def shares(weights: Float[Array, " batch"], total: Float[Array, ""] | None = None) -> Float[Array, " batch"]:
    """Weights over their sum, or over that of a batch of which they are a part; zeros where no row counts."""
    total = jnp.sum(weights) if total is None else total
    return weights / jnp.where(total > 0, total, 1)


class Objective(eqx.Module, Generic[Model]):
    """What to climb, whatever the model is: a machine, or any other module of parameters."""

    @abstractmethod
    def init(self, key: Key[Array, ""], model: Model, means: tuple[Float[Array, "..."], ...]) -> PyTree:
        """What is carried from step to step, given the means of the visible layers in the data."""

    @abstractmethod
    def step(self, key: Key[Array, ""], model: Model, state: PyTree, batch: Batch) -> tuple[Model, PyTree]:
        """The gradient with respect to the model's parameters, and what is carried on."""

    def enter(self, model: Model, gradient: Model, state: PyTree) -> Model:
        """The gradient with respect to the variables in which steps are made, if they are not the parameters."""
        return gradient

    def leave(self, model: Model, update: Model, state: PyTree) -> Model:
        """A step made in those variables, as a step of the parameters."""
        return update

    def place(self, model: Model) -> Model:
        """Where the model is in those variables, for optimisers that remember where they were."""
        place: Model = eqx.filter(model, eqx.is_inexact_array)
        return place

    def chains(self, state: PyTree) -> tuple[Float[Array, "..."], ...] | None:
        """The Markov chains in what is carried, if there are any: for those who look on."""
        return None

    def value(self, model: Model, batch: Batch) -> Scalar:
        """What is climbed, where it can be computed: optimisers that search along a line ask for it."""
        raise NotImplementedError

    @abstractmethod
    def magnitudes(self, model: Model, batch: Batch) -> dict[str, Scalar]:
        """The sizes that must stay bounded, by name; beyond a stated limit the run has diverged."""
