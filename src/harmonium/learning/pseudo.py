r"""Maximum pseudo-likelihood: no chains and no Z, for machines whose visible units are discrete.

With the weights and the share s = Σw/B of ``learning.likelihood``, a step climbs the gradient of

    (1/B) Σᵢ wᵢ log PL(xᵢ) - s penalty,

whose optimum, for a machine without hidden units, tends to that of the likelihood as the data grow (Besag 1975;
Hyvärinen 2006). It is deterministic, and can be searched along a line.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Key, PyTree, Scalar

from harmonium.learning import positive
from harmonium.learning.likelihood import configuration, largest_inputs
from harmonium.learning.objective import Batch, Objective
from harmonium.learning.penalties import Penalties
from harmonium.likelihood.pseudo import log_pseudolikelihood, require_computable
from harmonium.machine import Machine, State


class PseudoLikelihood(Objective[Machine]):
    """The mean log pseudo-likelihood less the penalties; its gradient by automatic differentiation."""

    penalties: Penalties = eqx.field(default_factory=Penalties)

    def init(self, key: Key[Array, ""], machine: Machine, means: State) -> PyTree:
        require_computable(machine)

    def step(self, key: Key[Array, ""], machine: Machine, state: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        gradient: Machine = eqx.filter_grad(self.value)(machine, batch)
        return gradient, state

    def enter(self, machine: Machine, gradient: Machine, state: PyTree) -> Machine:
        return positive.enter(machine, gradient)

    def leave(self, machine: Machine, update: Machine, state: PyTree) -> Machine:
        return positive.leave(machine, update)

    def place(self, machine: Machine) -> Machine:
        return positive.place(machine)

    def value(self, machine: Machine, batch: Batch) -> Scalar:
        in_data = jnp.sum(batch.weights * log_pseudolikelihood(machine, batch.visible))
        penalty = self.penalties.value(machine, configuration(machine, batch), batch.weights)
        return (in_data - jnp.sum(batch.weights) * penalty) / batch.full

    def magnitudes(self, machine: Machine, batch: Batch) -> dict[str, Scalar]:
        return largest_inputs(machine, batch) | positive.magnitudes(machine)
