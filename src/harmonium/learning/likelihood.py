r"""The gradient of the log-likelihood, ⟨-∂E/∂θ⟩ in the data minus ⟨-∂E/∂θ⟩ in the model, one batch at a time.

A batch is rows ``x`` with weights ``w`` of mean one over all the data; the last batch of an epoch is padded with rows
of weight zero. Both phases are divided by the weight B of a full batch: with s = Σw/B, a step climbs

    (1/B) Σᵢ wᵢ ⟨-∂E/∂θ⟩_{h|xᵢ} - s ⟨-∂E/∂θ⟩_model - s ∂penalty/∂θ,

so that a short batch is a short step in the same direction on average, and never a different formula.
"""

from abc import abstractmethod
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Key, PyTree, Scalar

from harmonium.errors import ArgumentError
from harmonium.gauge import Gauge
from harmonium.learning import positive, precision, shards
from harmonium.learning.objective import Batch, Objective
from harmonium.learning.penalties import Penalties
from harmonium.machine import Known, Machine, State
from harmonium.sampling import gibbs


class Negative(eqx.Module):
    """A negative phase: how ⟨-∂E/∂θ⟩ in the model is estimated, and what it carries from step to step."""

    @abstractmethod
    def init(self, key: Key[Array, ""], machine: Machine) -> PyTree:
        """What the phase carries: its chains, or nothing."""

    @abstractmethod
    def step(self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        """The mean statistics in the model, in the machine's shape, and what to carry on.

        Where they are sums over rows or chains, those of parts (with ``batch.total`` the weight of all) add up to it.
        """

    def chains(self, carried: PyTree) -> State | None:
        """The chains among what the phase carries, one configuration each, if it has any."""
        return None

    def log_partition(self, machine: Machine) -> Scalar:
        """log Z, whose gradient is what the phase estimates, where it can be computed."""
        found = f"{type(self).__name__}, which estimates the gradient of log Z but not log Z"
        raise ArgumentError(
            "negative", found, "Exact(), for the value of the likelihood (a search along a line needs it)"
        )


class Likelihood(Objective[Machine]):
    """Maximum likelihood with an exact positive phase.

    With ``centred`` the gradient is taken in variables centred on the running means of data and model, where it does
    not depend on which value of a unit is called zero (Melchior, Fischer & Wiskott 2016). ``gauge_rate`` is the weight
    of a step in those running means.

    With ``rounded`` what units receive, in both phases, is computed as in ``learning.precision``. With ``devices`` the
    rows of both phases are cut into parts as in ``learning.shards``.
    """

    negative: Negative
    penalties: Penalties = eqx.field(default_factory=Penalties)
    centred: bool = eqx.field(default=True, static=True)
    gauge_rate: float = eqx.field(default=0.01, static=True)
    rounded: bool = eqx.field(default=False, static=True)
    devices: Mesh | None = eqx.field(default=None, static=True)

    def init(self, key: Key[Array, ""], machine: Machine, means: State) -> PyTree:
        """Chains, and the gauge centred on ``means`` (of the visible layers in the data; hidden means follow)."""
        given: Known = tuple(m[None] for m in means) + (None,) * (len(machine.layers) - machine.n_visible)
        filled = tuple(x[0] for x in expectations(machine, given))
        return self.negative.init(key, machine), Gauge.centred(machine, filled)

    def step(self, key: Key[Array, ""], machine: Machine, state: PyTree, batch: Batch) -> tuple[Machine, PyTree]:
        """The gradient with respect to the plain parameters, and the next state."""
        chains, gauge = state
        if self.devices is not None:
            batch = shards.whole(batch, self.devices)
        data = configuration(machine, batch)
        share = jnp.sum(batch.weights) / batch.full
        phases = self._phases if self.devices is None else partial(shards.summed, self._phases, self.devices)
        (in_data, in_model), chains = phases(key, machine, chains, batch)
        penalty = self.penalties.gradient(machine, data, batch.weights)
        gradient = jax.tree.map(lambda p, n, q: p - share * (n + q), in_data, in_model, penalty)
        if self.centred:
            gauge = self._followed(gauge, in_data, in_model, share)
        return gradient, (chains, gauge)

    def _phases(
        self, key: Key[Array, ""], machine: Machine, chains: PyTree, batch: Batch
    ) -> tuple[tuple[Machine, Machine], PyTree]:
        """Mean statistics in the data, divided by the weight of a full batch, and in the model; and what to carry."""
        acting = precision.rounded(machine) if self.rounded else machine
        in_data = acting.statistics(configuration(machine, batch), batch.weights / batch.full)
        in_model, chains = self.negative.step(key, acting, chains, batch)
        return (precision.plain(in_data), precision.plain(in_model)), chains

    def enter(self, machine: Machine, gradient: Machine, state: PyTree) -> Machine:
        """The gradient with respect to the parameters in centred variables: the transpose of ``leave``."""
        gradient = positive.enter(machine, gradient)
        if not self.centred:
            return gradient
        transposed: Machine = jax.vjp(lambda p: self._leave(machine, p, state), gradient)[1](gradient)[0]
        return transposed

    def leave(self, machine: Machine, update: Machine, state: PyTree) -> Machine:
        """A step of the parameters in centred variables, as a step of the plain ones."""
        return positive.leave(machine, self._leave(machine, update, state) if self.centred else update)

    def chains(self, state: PyTree) -> State | None:
        return self.negative.chains(state[0])

    def value(self, machine: Machine, batch: Batch) -> Scalar:
        """(1/B) Σᵢ wᵢ log p(xᵢ) - s penalty: what a step climbs, where the negative phase has a log Z."""
        data = configuration(machine, batch)
        in_data = -jnp.sum(batch.weights * machine.free_energy(data))
        once = self.negative.log_partition(machine) + self.penalties.value(machine, data, batch.weights)
        return (in_data - jnp.sum(batch.weights) * once) / batch.full

    def place(self, machine: Machine) -> Machine:
        """The parameters, the positive ones as logarithms; not centred, for centres move."""
        return positive.place(machine)

    def magnitudes(self, machine: Machine, batch: Batch) -> dict[str, Scalar]:
        largest = largest_inputs if self.devices is None else partial(shards.largest, largest_inputs, self.devices)
        return largest(machine, batch) | positive.magnitudes(machine)

    def _leave(self, machine: Machine, update: Machine, state: PyTree) -> Machine:
        _, gauge = state
        rest = eqx.filter(machine, eqx.is_inexact_array, inverse=True)
        plain: Machine = eqx.filter(gauge.leave(eqx.combine(update, rest)), eqx.is_inexact_array)
        return plain

    def _followed(self, gauge: Gauge, in_data: Machine, in_model: Machine, share: Array) -> Gauge:
        """The gauge moved towards the mean of data and model: the statistic of a bias is the unit's mean."""
        moved = []
        for offset, data, model in zip(gauge.offsets, in_data.layers, in_model.layers, strict=True):
            towards = (data.bias + share * model.bias) / 2
            moved.append(offset + self.gauge_rate * (towards - share * offset))
        return Gauge(tuple(moved), gauge.scales)


def configuration(machine: Machine, batch: Batch) -> Known:
    """The batch as a configuration: its hidden layers are summed over."""
    return batch.visible + (None,) * (len(machine.layers) - machine.n_visible)


def largest_inputs(machine: Machine, batch: Batch) -> dict[str, Scalar]:
    """The largest input that each hidden layer receives from the batch; of a machine without, each visible one."""
    hidden = range(machine.n_visible, len(machine.layers))
    if hidden:
        inputs = {layer: machine.inputs_from_others(configuration(machine, batch), layer) for layer in hidden}
    else:
        inputs = {layer: machine.inputs(batch.visible, layer) for layer in range(machine.n_visible)}
    return {f"the inputs of layer {machine.names[layer]!r}": jnp.max(jnp.abs(x)) for layer, x in inputs.items()}


def expectations(machine: Machine, known: Known) -> State:
    """The configuration with every layer that is None replaced by its conditional mean, given those that are not."""
    return tuple(
        machine.layers[layer].mean(machine.inputs_from_others(known, layer)) if x is None else x
        for layer, x in enumerate(known)
    )


def marginalised(machine: Machine, state: State) -> Known:
    """The state with hidden layers left out if their sum has a closed form: the same mean, with less noise."""
    hidden = range(machine.n_visible, len(machine.layers))
    touching = any(a in hidden and b in hidden for a, b in machine.joins)
    return state if touching else tuple(None if layer in hidden else x for layer, x in enumerate(state))


def sweeps(
    key: Key[Array, ""], machine: Machine, state: State, n_gibbs: int, order: tuple[int, ...] | None = None
) -> State:
    """``n_gibbs`` Gibbs sweeps."""

    def sweep(t: Array, state: State) -> State:
        return gibbs.step(jax.random.fold_in(key, t), machine, state, order=order)[0]

    swept: State = jax.lax.fori_loop(0, n_gibbs, sweep, state)
    return swept
