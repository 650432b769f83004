r"""What is subtracted from the log-likelihood: ½λ₂ΣW² + λ₁Σ|W| over all couplings, and a target for hidden activity.

Smoothing keeps the parameters of visible units finite where the data would not (a column that never varies): it adds
ε log p(x) for one row x from the neutral layer θ₀ to a visible layer θ left to itself. With ψ(θ) = Σ cgf(0), that is
ε(∇ψ(θ₀)·θ - ψ(θ)), which is concave; ε = 1/n is one such row among n of data.

The sparsity penalty is λₛ Σ_j KL(ρ ‖ q_j), with q_j the mean activity of a hidden unit over the batch (Nair & Hinton
2009; Hinton 2012, §11).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Scalar

from harmonium.learning.objective import shares
from harmonium.machine import Known, Machine
from harmonium.units import Unit


def _strength(value: Float[Array, ""] | float | None) -> Float[Array, ""] | None:
    """None for zero: what is not asked for costs nothing. Others are traced: a new strength compiles nothing."""
    if value is None or (isinstance(value, int | float) and value == 0):
        return None
    return jnp.asarray(value, float)


class Penalties(eqx.Module):
    """Strengths of the penalties; none by default."""

    l2: Float[Array, ""] | None = eqx.field(default=None, converter=_strength)
    l1: Float[Array, ""] | None = eqx.field(default=None, converter=_strength)
    sparsity: Float[Array, ""] | None = eqx.field(default=None, converter=_strength)
    target: Float[Array, ""] = eqx.field(default=0.1, converter=lambda value: jnp.asarray(value, float))
    smoothing: Float[Array, ""] | None = eqx.field(default=None, converter=_strength)

    def value(self, machine: Machine, data: Known, weights: Float[Array, " batch"]) -> Scalar:
        """The penalty of a machine on a batch."""
        total = jnp.zeros((), weights.dtype)
        for coupling in machine.couplings:
            if self.l2 is not None:
                total = total + self.l2 / 2 * jnp.sum(coupling.weights**2)
            if self.l1 is not None:
                total = total + self.l1 * jnp.sum(jnp.abs(coupling.weights))
        if self.sparsity is not None:
            share = shares(weights)
            for layer in (layer for layer, x in enumerate(data) if x is None):
                mean = machine.layers[layer].mean(machine.inputs_from_others(data, layer))
                activity = jnp.tensordot(share, mean, axes=1)
                total = total + self.sparsity * jnp.sum(self._divergence(activity))
        if self.smoothing is not None:
            for unit in machine.layers[: machine.n_visible]:
                total = total - self.smoothing * _log_probability_of_neutral(unit)
        return total

    def gradient(self, machine: Machine, data: Known, weights: Float[Array, " batch"]) -> Machine:
        """∂penalty/∂θ, in the machine's shape."""
        gradient: Machine = eqx.filter_grad(lambda m: self.value(m, data, weights))(machine)
        return gradient

    def _divergence(self, activity: Array) -> Array:
        """KL between coins of chance ρ and q, q kept off 0 and 1."""
        q = jnp.clip(activity, 1e-6, 1 - 1e-6)
        return jax.scipy.special.rel_entr(self.target, q) + jax.scipy.special.rel_entr(1 - self.target, 1 - q)


def _log_probability_of_neutral(unit: Unit) -> Scalar:
    """∇ψ(θ₀)·θ - ψ(θ): the mean log-probability, up to a constant, of the neutral layer's rows under the layer."""

    def potential(unit: Unit) -> Scalar:
        return jnp.sum(unit.cgf(jnp.zeros_like(unit.bias)))

    statistics = jax.tree.leaves(eqx.filter_grad(potential)(unit.neutral()))
    parameters = jax.tree.leaves(eqx.filter(unit, eqx.is_inexact_array))
    linear = sum(jnp.vdot(s, p) for s, p in zip(statistics, parameters, strict=True))
    return linear - potential(unit)
