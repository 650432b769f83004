r"""The pseudo-likelihood: log PL(v) = Σᵢ log p(vᵢ | v₋ᵢ), exact where the visible units have finitely many states.

It needs no Z, for p(vᵢ = s | v₋ᵢ) ∝ exp(-F(v with vᵢ = s)); nor a matrix product for each unit: where unit i goes from
vᵢ to s, the inputs of the hidden units change by (s - vᵢ)Wᵢ, so that up to a constant

    -F(v with vᵢ = s) = -Eᵢ(s) + s·Jᵢ + Σⱼ [cgfⱼ(Iⱼ + (s - vᵢ)Wᵢⱼ) - cgfⱼ(Iⱼ)],

with J what the visible units send each other (Besag 1975). Differences are summed, since a difference of sums would
lose the digits that count.

A value between two states stands for the chances of both: Σᵢ [xᵢ log p(1 | x₋ᵢ) + (1 - xᵢ) log p(0 | x₋ᵢ)] for
Bernoulli units, with x₋ᵢ put in as it is.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.errors import ArgumentError
from harmonium.machine import Known, Machine, State
from harmonium.units import Unit

CHUNK = 2**24
"""Numbers held at a time: for every row of a chunk, the hidden inputs in each state of one visible unit."""


def log_pseudolikelihood(machine: Machine, visible: State) -> Float[Array, " batch"]:
    """log PL of each row, for discrete visible layers, and hidden layers that do not touch each other.

    >>> import harmonium as hm
    >>> import jax.numpy as jnp
    >>> machine = hm.rbm(hm.Bernoulli(3), hm.Spin(2))  # without weights every unit is a fair coin
    >>> round(float(log_pseudolikelihood(machine, (jnp.array([[1.0, 0, 1]]),))[0]), 4)
    -2.0794
    """
    require_computable(machine)
    shapes, wanted = [x.shape[1:] for x in visible], [unit.shape for unit in machine.layers[: machine.n_visible]]
    if shapes != wanted:
        raise ArgumentError("visible", f"rows of shapes {shapes}", f"{wanted}, those of the visible layers")
    values: Array = _log_pseudolikelihood(machine, visible)
    return values


def require_computable(machine: Machine) -> None:
    """Raise unless visible layers are discrete, and hidden layers have a sum in closed form."""
    for name, unit in zip(machine.names[: machine.n_visible], machine.layers, strict=False):
        if unit.states() is None:
            raise ArgumentError(
                "machine", f"{type(unit).__name__} units in {name!r}", "visible units with finitely many states"
            )
    for a, b in machine.joins:
        if min(a, b) >= machine.n_visible:
            found = f"a coupling {machine.names[a]}-{machine.names[b]} among hidden units"
            raise ArgumentError("machine", found, "hidden units that do not touch: their sum has a closed form")


class _Table(NamedTuple):
    """For every unit of a visible layer: its states, their log weight left alone, and its weights to hidden layers."""

    states: Float[Array, "*n s k"]
    alone: Float[Array, "*n s"]
    weights: dict[int, Float[Array, "..."]]


class _Place(NamedTuple):
    """Every unit of a visible layer in one row: its value, how much of that is each state, what it receives."""

    x: Float[Array, "*n k"]
    chances: Float[Array, "*n s"]
    received: Float[Array, "*n k"]


@eqx.filter_jit
def _log_pseudolikelihood(machine: Machine, visible: State) -> Array:
    layers = machine.layers[: machine.n_visible]
    hidden = range(machine.n_visible, len(machine.layers))
    tables = [_table(machine, layer) for layer in range(machine.n_visible)]
    settled = [jnp.all(unit.contains(x)) for unit, x in zip(layers, visible, strict=True)]

    def of_row(row: State) -> Array:
        known: Known = row + (None,) * len(hidden)
        inputs = {h: machine.inputs_from_others(known, h) for h in hidden}
        cgfs = {h: machine.layers[h].cgf(inputs[h]) for h in hidden}

        def among_all(place: _Place, table: _Table) -> Array:
            logits = table.alone + table.states @ place.received
            for h, w in table.weights.items():
                without = inputs[h] - jnp.tensordot(place.x, w, 1)
                changed = without[None] + jnp.tensordot(table.states, w, 1)
                logits = logits + jnp.sum(machine.layers[h].cgf(changed) - cgfs[h][None], axis=-1)
            return jnp.sum(place.chances * jax.nn.log_softmax(logits))

        def against_other(place: _Place, table: _Table) -> Array:
            step = jnp.sum(table.states, axis=0) - 2 * place.x
            logit = (place.chances[::-1] - place.chances) @ table.alone + step @ place.received
            for h, w in table.weights.items():
                logit = logit + jnp.sum(machine.layers[h].cgf(inputs[h] + jnp.tensordot(step, w, 1)) - cgfs[h])
            return -jax.nn.softplus(logit)

        def of_layer(layer: int) -> Array:
            unit, table = layers[layer], tables[layer]

            @jax.checkpoint  # else the gradient would keep the inputs of the hidden units for every visible one
            def of_unit(at: tuple[_Place, _Table]) -> Array:
                if table.states.shape[1:] != (2, 1):
                    return among_all(*at)
                # Of two states one is what the unit is in, unless it is between them: half the work.
                chosen: Array = jax.lax.cond(settled[layer], against_other, among_all, *at)
                return chosen

            place = _Place(
                row[layer].reshape(unit.n, -1),
                _chances(unit, row[layer]),
                _received(machine, known, layer).reshape(unit.n, -1),
            )
            return jnp.sum(jax.lax.map(of_unit, (place, table)))

        return sum((of_layer(layer) for layer in range(len(layers))), jnp.zeros((), row[0].dtype))

    widest = max(table.states.shape[1] for table in tables)
    held = widest * sum(machine.layers[h].bias.size for h in hidden) + sum(unit.bias.size for unit in layers)
    found: Array = jax.lax.map(of_row, visible, batch_size=max(1, CHUNK // held))
    return found


def _table(machine: Machine, layer: int) -> _Table:
    unit = machine.layers[layer]
    states = unit.states()
    assert states is not None

    def alone(i: Array) -> Array:
        return -unit.at(i[None]).energy(states[:, None])

    weights = {}
    for coupling, (a, b) in zip(machine.couplings, machine.joins, strict=True):
        other = b if a == layer else a
        if layer in (a, b) and other >= machine.n_visible:
            matrix = coupling.matrix().reshape(machine.layers[a].bias.size, -1)
            mine = matrix if a == layer else matrix.T
            weights[other] = mine.reshape(unit.n, -1, *machine.layers[other].shape)
    each = jnp.broadcast_to(states.reshape(len(states), -1), (unit.n, len(states), unit.bias.size // unit.n))
    return _Table(each, jax.vmap(alone)(jnp.arange(unit.n)), weights)


def _received(machine: Machine, known: Known, layer: int) -> Array:
    """What a visible layer receives from the visible units."""
    received, within, x = machine.inputs_from_others(known, layer), machine.within(layer), known[layer]
    if within is None or x is None:
        return received
    return received + within.forward(x.reshape(-1)).reshape(received.shape)


def _chances(unit: Unit, x: Array) -> Float[Array, "n s"]:
    """How much of a value is each state: 1 for the state that it is; between two states, by its distances to them."""
    states = unit.states()
    assert states is not None
    if unit.one_hot:
        return x
    return jnp.maximum(1 - jnp.abs(x[:, None] - states[None]) / (states[1] - states[0]), 0)
