r"""Changes of variables that leave the distribution as it is, for every machine.

Centring and standardising: couple (x - c)/s in place of x. With W̃ and b̃ the parameters in those variables,

    E(x) = Σ_l E_l(x_l; b̃_l/s_l) - Σ ((x-c)/s)ᵀ W̃ ((y-d)/r)

is, up to a constant, the plain energy with W = W̃/(s rᵀ) and b = b̃/s - (what the layer receives at x = c, y = d).
For fixed c and s the map is linear. The gradient in the new variables is its transpose applied to the plain
gradient: that is the centred gradient of Montavon & Müller (2012) and Melchior, Fischer & Wiskott (2016).

Zero-sum: adding to W_ikj, for all states k of one unit, the same number changes only the other layer's bias. The
gauge in which each such sum is zero makes the weights of Potts machines comparable.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.couplings import Coupling
from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.units import Gaussian


class Gauge(eqx.Module):
    """Offsets c and scales s, one array of the layer's shape for each layer; without scales they are 1."""

    offsets: tuple[Float[Array, "..."], ...]
    scales: tuple[Float[Array, "..."], ...] | None = None

    @classmethod
    def plain(cls, machine: Machine) -> "Gauge":
        """c = 0, s = 1: the variables as they are."""
        return cls(tuple(jnp.zeros_like(unit.bias) for unit in machine.layers))

    @classmethod
    def centred(cls, machine: Machine, means: Sequence[Float[Array, "..."]]) -> "Gauge":
        """c = the given means, s = 1."""
        _require_shapes(machine, "means", means)
        return cls(tuple(means))

    @classmethod
    def standardised(
        cls, machine: Machine, means: Sequence[Float[Array, "..."]], deviations: Sequence[Float[Array, "..."]]
    ) -> "Gauge":
        """c = the given means, s = the given standard deviations (of a one-hot unit: one for all its states)."""
        _require_shapes(machine, "means", means)
        _require_shapes(machine, "deviations", deviations)
        return cls(tuple(means), tuple(deviations))

    def enter(self, machine: Machine) -> Machine:
        """The parameters in these variables of a machine given in plain ones."""
        shifted = _shift(machine, [machine.inputs(self.offsets, layer) for layer in range(len(machine.layers))])
        return shifted if self.scales is None else _rescale(shifted, self.scales)

    def leave(self, machine: Machine) -> Machine:
        """The plain parameters of a machine given in these variables; the inverse of ``enter``."""
        plain = machine if self.scales is None else _rescale(machine, [1 / s for s in self.scales])
        return _shift(plain, [-plain.inputs(self.offsets, layer) for layer in range(len(plain.layers))])


def moved(machine: Machine, layer: int, offset: Float[Array, " n"], scale: Float[Array, " n"]) -> Machine:
    """The machine of the same configurations with offset + scale·x in place of x in one Gaussian layer.

    Its log density is that of the machine less Σ log(scale).
    """
    unit = machine.layers[layer]
    if not isinstance(unit, Gaussian):
        raise ArgumentError(
            "layer", f"units of type {type(unit).__name__}", "a Gaussian layer: others have a fixed origin"
        )
    ones = [jnp.ones_like(other.bias) for other in machine.layers]
    ones[layer] = 1 / scale
    joined = zip(machine.couplings, machine.joins, strict=True)
    couplings = tuple(coupling.rescaled(ones[a], ones[b]) for coupling, (a, b) in joined)
    layers = (*machine.layers[:layer], unit.moved(offset, scale), *machine.layers[layer + 1 :])
    changed: Machine = eqx.tree_at(lambda m: (m.layers, m.couplings), machine, (layers, couplings))
    zeros = tuple(jnp.zeros_like(other.bias) for other in machine.layers)
    origin = (*zeros[:layer], offset, *zeros[layer + 1 :])
    return _shift(changed, [-changed.inputs(origin, place) for place in range(len(layers))])


def zero_sum(machine: Machine) -> Machine:
    """The same distribution, with biases and weights that sum to zero over the states of every one-hot unit."""
    couplings: list[Coupling] = []
    shifts = [jnp.zeros_like(unit.bias) for unit in machine.layers]
    for coupling, (a, b) in zip(machine.couplings, machine.joins, strict=True):
        left, right = machine.layers[a], machine.layers[b]
        weights = coupling.matrix() if left.one_hot or right.one_hot else coupling.weights
        share = 0.5 if a == b else 1.0  # E = -½xᵀUx within a layer: each pair stands twice in U
        if left.one_hot:
            mean = weights.mean(axis=1, keepdims=True)
            weights = weights - mean
            shifts[b] = shifts[b] + share * mean.sum(axis=(0, 1))
        if right.one_hot:
            mean = weights.mean(axis=-1, keepdims=True)
            weights = weights - mean
            shifts[a] = shifts[a] + share * mean.sum(axis=(-1, -2))
        couplings.append(eqx.tree_at(lambda c: c.weights, coupling, weights))
    shifted = _shift(eqx.tree_at(lambda m: m.couplings, machine, tuple(couplings)), shifts)
    centred = [-u.bias.mean(axis=-1, keepdims=True) * u.one_hot + 0 * u.bias for u in shifted.layers]
    return _shift(shifted, centred)


def _require_shapes(machine: Machine, name: str, given: Sequence[Array]) -> None:
    shapes, wanted = [x.shape for x in given], [unit.shape for unit in machine.layers]
    if shapes != wanted:
        raise ArgumentError(name, f"shapes {shapes}", f"{wanted}, those of the layers")


def _shift(machine: Machine, shifts: Sequence[Array]) -> Machine:
    return _with_biases(machine, [unit.bias + shift for unit, shift in zip(machine.layers, shifts, strict=True)])


def _rescale(machine: Machine, scales: Sequence[Array]) -> Machine:
    joined = zip(machine.couplings, machine.joins, strict=True)
    couplings = tuple(coupling.rescaled(scales[a], scales[b]) for coupling, (a, b) in joined)
    rescaled: Machine = eqx.tree_at(lambda m: m.couplings, machine, couplings)
    return _with_biases(rescaled, [unit.bias * scale for unit, scale in zip(machine.layers, scales, strict=True)])


def _with_biases(machine: Machine, biases: Sequence[Array]) -> Machine:
    changed: Machine = eqx.tree_at(lambda m: [unit.bias for unit in m.layers], machine, list(biases))
    return changed
