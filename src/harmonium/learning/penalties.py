r"""What is subtracted from the log-likelihood: ½λ₂ΣW² + λ₁Σ|W| over all couplings, and a target for hidden activity.

The sparsity penalty is λₛ Σ_j KL(ρ ‖ q_j), with q_j the mean activity of a hidden unit over the batch (Nair & Hinton
2009; Hinton 2012, §11).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Scalar

from harmonium.machine import Known, Machine


class Penalties(eqx.Module):
    """Strengths of the penalties; all zero by default."""

    l2: Float[Array, ""] | float = 0.0
    l1: Float[Array, ""] | float = 0.0
    sparsity: Float[Array, ""] | float = 0.0
    target: Float[Array, ""] | float = 0.1

    def value(self, machine: Machine, data: Known, weights: Float[Array, " batch"]) -> Scalar:
        """The penalty of a machine on a batch."""
        total = jnp.zeros(())
        for coupling in machine.couplings:
            matrix = coupling.weights
            total = total + self.l2 / 2 * jnp.sum(matrix**2) + self.l1 * jnp.sum(jnp.abs(matrix))
        share = weights / jnp.sum(weights)
        for layer, x in enumerate(data):
            if x is None:
                mean = machine.layers[layer].mean(machine.inputs_from_others(data, layer))
                activity = jnp.tensordot(share, mean, axes=1)
                total = total + self.sparsity * jnp.sum(self._divergence(activity))
        return total

    def gradient(self, machine: Machine, data: Known, weights: Float[Array, " batch"]) -> Machine:
        """∂penalty/∂θ, in the machine's shape."""
        gradient: Machine = eqx.filter_grad(lambda m: self.value(m, data, weights))(machine)
        return gradient

    def _divergence(self, activity: Array) -> Array:
        """KL between coins of chance ρ and q, q kept off 0 and 1."""
        q = jnp.clip(activity, 1e-6, 1 - 1e-6)
        return jax.scipy.special.rel_entr(self.target, q) + jax.scipy.special.rel_entr(1 - self.target, 1 - q)
