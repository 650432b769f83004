"""A machine: layers joined by couplings. Everything a Boltzmann machine is follows from these two lists."""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Scalar
from scipy.sparse import csr_array

from harmonium.colouring import blocks, colour
from harmonium.couplings import Coupling, Pairwise
from harmonium.errors import ArgumentError
from harmonium.normalisable import require_normalisable
from harmonium.units import Unit
from harmonium.units.unit import Values, known

State = tuple[Float[Array, "..."], ...]
"""A configuration: one array a layer, ``(batch, *layer.shape)``, in the order of the machine's layers."""

Known = tuple[Float[Array, "..."] | None, ...]
"""A configuration in which the layers to be summed over are None."""


class Machine(eqx.Module):
    r"""Layers and couplings: p(x) = exp(-E(x))/Z with E(x) = Σ_l E_l(x_l) + Σ_c E_c(x_a, x_b).

    An RBM, by hand, and the same free energy as the textbook's:

    >>> import jax.numpy as jnp
    >>> from harmonium.couplings import Dense
    >>> from harmonium.units import Bernoulli
    >>> machine = Machine(
    ...     {"visible": Bernoulli(3), "hidden": Bernoulli(2)},
    ...     {("visible", "hidden"): Dense(jnp.ones((3, 2)))},
    ... )
    >>> v = jnp.array([[1.0, 0.0, 1.0]])
    >>> round(float(machine.free_energy((v, None))[0]), 4)  # -2·log(1 + e²)
    -4.2539

    ``visible`` names the layers that data will be given for (by default the first); they must come first.
    The energy is linear in every parameter, so that statistics, tempering and changes of variables are linear maps.
    """

    layers: tuple[Unit, ...]
    couplings: tuple[Coupling, ...]
    colours: tuple[Int[Array, "colours size"] | None, ...]
    names: tuple[str, ...] = eqx.field(static=True)
    joins: tuple[tuple[int, int], ...] = eqx.field(static=True)
    order: tuple[int, ...] = eqx.field(static=True)
    n_visible: int = eqx.field(static=True)

    def __init__(
        self,
        layers: Mapping[str, Unit],
        couplings: Mapping[tuple[str, str], Coupling],
        visible: Sequence[str] | None = None,
    ) -> None:
        self.names = tuple(layers)
        self.layers = tuple(layers.values())
        self.couplings = tuple(couplings.values())
        for pair in couplings:
            for name in pair:
                if name not in layers:
                    raise ArgumentError("couplings", f"a layer named {name!r}", f"one of {', '.join(self.names)}")
        self.joins = tuple((self.names.index(a), self.names.index(b)) for a, b in couplings)
        self._require_fitting()
        visible = self.names[:1] if visible is None else tuple(visible)
        if not visible or self.names[: len(visible)] != tuple(visible):
            raise ArgumentError("visible", f"{visible}", f"the first layers, in order, of {self.names}")
        self.n_visible = len(visible)
        self.colours = tuple(self._colours_within(layer) for layer in range(len(self.layers)))
        self.order = self._update_order()
        self.require_normalisable()

    def _require_fitting(self) -> None:
        unordered = [frozenset(join) for join in self.joins]
        if len(set(unordered)) < len(unordered):
            raise ArgumentError("couplings", "two layers joined twice", "at most one coupling for a pair of layers")
        for coupling, (a, b) in zip(self.couplings, self.joins, strict=True):
            if isinstance(coupling, Pairwise) != (a == b):
                wanted = "Within or Edges inside a layer, Dense between two"
                raise ArgumentError(
                    "couplings", f"{type(coupling).__name__} for {self.names[a]}-{self.names[b]}", wanted
                )
            coupling.check(self.layers[a].shape, self.layers[b].shape)

    def _colours_within(self, layer: int) -> Array | None:
        within = self.within(layer)
        return None if within is None else jnp.asarray(blocks(within.neighbours()))

    def _update_order(self) -> tuple[int, ...]:
        """Layers by colour, so that those of one colour follow each other; the first layer's colour comes last."""
        graph = np.zeros((len(self.layers),) * 2, int)
        for a, b in self.joins:
            graph[a, b] = graph[b, a] = a != b
        colours = colour(csr_array(graph))
        return tuple(sorted(range(len(self.layers)), key=lambda layer: (-int(colours[layer]), layer)))

    def require_normalisable(self) -> None:
        """Raise ``NotNormalisableError``, naming the layers and the condition, if Σ exp(-E) is infinite."""
        if not all(known(leaf) for leaf in jax.tree.leaves(self)):
            return
        tails = {layer: unit.tails() for layer, unit in enumerate(self.layers)}
        unbounded = [layer for layer, ends in tails.items() if ends is not None]
        joined = [join for join in self.joins if set(join) <= set(unbounded)]
        if not joined:
            return
        left, right = (
            np.concatenate([np.asarray(ends[side], float) for ends in tails.values() if ends is not None])
            for side in (0, 1)
        )
        involved = sorted({layer for join in joined for layer in join})
        names = " and ".join(f"{self.names[i]!r} ({type(self.layers[i]).__name__})" for i in involved)
        names = f"layers {names}" if len(involved) > 1 else f"layer {names}"
        require_normalisable(left, right, np.asarray(self.coupling_matrix(unbounded), float), names)

    def coupling_matrix(self, layers: Sequence[int]) -> Float[Array, "width width"]:
        """All couplings among some layers as one symmetric matrix over their units, layer after layer."""
        widths = [self.layers[layer].bias.size for layer in layers]
        ends = dict(zip(layers, np.cumsum(widths).tolist(), strict=True))
        place = {layer: slice(ends[layer] - width, ends[layer]) for layer, width in zip(layers, widths, strict=True)}
        matrix = jnp.zeros((sum(widths), sum(widths)), self.layers[0].bias.dtype)
        for coupling, (a, b) in zip(self.couplings, self.joins, strict=True):
            if a in place and b in place:
                block = coupling.matrix().reshape(self.layers[a].bias.size, -1)
                matrix = matrix.at[place[a], place[b]].set(block)
                matrix = matrix.at[place[b], place[a]].set(block.T)
        return matrix

    def within(self, layer: int) -> Pairwise | None:
        """The coupling inside a layer, if it has one."""
        for coupling, (a, b) in zip(self.couplings, self.joins, strict=True):
            if a == b == layer and isinstance(coupling, Pairwise):
                return coupling
        return None

    def summable(self) -> tuple[int, ...]:
        """Layers that touch neither each other nor themselves, the earlier in a sweep first: of an RBM, the hidden.

        Given the rest they are independent: their sum has a closed form, and they can be drawn all at once.
        """
        chosen: set[int] = set()
        for layer in self.order:
            neighbours = {b if a == layer else a for a, b in self.joins if layer in (a, b)}
            if not neighbours & {layer, *chosen}:
                chosen.add(layer)
        return tuple(sorted(chosen))

    def inputs_from_others(self, state: Known, layer: int) -> Float[Array, "..."]:
        """What the other layers send to a layer: -∂(their coupling energy)/∂x. Layers that are None send nothing."""
        shape = self.layers[layer].shape
        total = jnp.zeros((*self._lead(state), *shape), self.layers[layer].bias.dtype)
        for coupling, (a, b) in zip(self.couplings, self.joins, strict=True):
            if a == b or layer not in (a, b):
                continue
            source = state[a if layer == b else b]
            if source is not None:
                send = coupling.forward if layer == b else coupling.backward
                flat = source.reshape(*total.shape[: total.ndim - len(shape)], -1)
                total = total + send(flat).reshape(total.shape)
        return total

    def inputs(self, state: State, layer: int) -> Float[Array, "..."]:
        """All that a layer receives, from other layers and from its own units: -∂(coupling energy)/∂x_layer."""
        inputs = self.inputs_from_others(state, layer)
        within = self.within(layer)
        if within is not None:
            lead = inputs.shape[: inputs.ndim - len(self.layers[layer].shape)]
            inputs = inputs + within.forward(state[layer].reshape(*lead, -1)).reshape(inputs.shape)
        return inputs

    def energy(self, state: State) -> Float[Array, " *batch"]:
        """E(x) of each configuration."""
        return self.free_energy(state)

    def free_energy(self, state: Known) -> Float[Array, " *batch"]:
        r"""F = -log Σ exp(-E), summed over the layers that are None in ``state``.

        With h the layers summed over, which must not touch each other, and v the rest,
        F(v) = E(v) - Σ_h cgf_h(I_h(v)). With nothing left out it is the energy.
        """
        self._require_separable(state)
        total = jnp.zeros(self._lead(state), self.layers[0].bias.dtype)
        for layer, unit in enumerate(self.layers):
            x = state[layer]
            if x is None:
                total = total - jnp.sum(unit.cgf(self.inputs_from_others(state, layer)), axis=-1)
            else:
                total = total + unit.energy(x)
        for coupling, (a, b) in zip(self.couplings, self.joins, strict=True):
            x, y = state[a], state[b]
            if x is not None and y is not None:
                x, y = x.reshape(*total.shape, -1), y.reshape(*total.shape, -1)
                total = total - jnp.sum(coupling.forward(x) * y, axis=-1) / (2 if a == b else 1)
        return total

    def _require_separable(self, state: Known) -> None:
        if len(state) != len(self.layers):
            raise ArgumentError("state", f"{len(state)} arrays", f"one (or None) for each of {', '.join(self.names)}")
        for a, b in self.joins:
            if state[a] is None and state[b] is None:
                raise ArgumentError(
                    "state",
                    f"both ends of the coupling {self.names[a]}-{self.names[b]} left out",
                    "one of them: layers that touch have no sum in closed form (likelihood.exact enumerates)",
                )

    def _lead(self, state: Known) -> tuple[int, ...]:
        """The axes before the layer's own, from the first layer given; none if no layer is."""
        given = ((unit, x) for unit, x in zip(self.layers, state, strict=True) if x is not None)
        return next((x.shape[: x.ndim - len(unit.shape)] for unit, x in given), ())

    def statistics(self, state: Known, weights: Float[Array, " batch"] | None = None) -> "Machine":
        r"""⟨-∂E/∂θ⟩ over the batch for every parameter θ, in the shape of the machine: ⟨x⟩ for a bias, ⟨xyᵀ⟩ for W.

        Layers that are None enter by their conditional expectation. The gradient of the mean log-likelihood is
        ``statistics`` of the data minus ``statistics`` of the model. ``weights`` (summing to one) replace the mean.
        """
        if weights is None:
            size = self._lead(state)[0]
            weights = jnp.full(size, 1 / size, self.layers[0].bias.dtype)

        def negative_mean(machine: "Machine") -> Scalar:
            return -jnp.sum(weights * machine.free_energy(state))

        gradient: Machine = eqx.filter_grad(negative_mean)(self)
        return gradient

    def scaled(self, beta: Values) -> "Machine":
        """The machine at inverse temperature ``beta``: every parameter times β; reference measures stay."""
        parameters, rest = eqx.partition(self, eqx.is_inexact_array)
        scaled: Machine = eqx.combine(jax.tree.map(lambda p: p * beta, parameters), rest)
        return scaled
