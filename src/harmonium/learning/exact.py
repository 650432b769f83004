"""The exact negative phase, by summing over all configurations of a small machine."""

import equinox as eqx
from jaxtyping import Array, Key, PyTree, Scalar

from harmonium.learning.likelihood import Negative
from harmonium.learning.objective import Batch
from harmonium.likelihood import exact
from harmonium.machine import Machine


class Exact(Negative):
    """⟨-∂E/∂θ⟩ under the machine itself: with it, learning is gradient ascent on the likelihood."""

    max_states: int = eqx.field(default=2**20, static=True)

    def init(self, key: Key[Array, ""], machine: Machine) -> PyTree:
        return None

    def step(self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        return exact.statistics(machine, self.max_states), None

    def log_partition(self, machine: Machine) -> Scalar:
        return exact.log_partition(machine, self.max_states)
