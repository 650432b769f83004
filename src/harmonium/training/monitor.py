"""What is watched in the course of a run: small functions of its state and of a few rows, each of its own subject.

A monitor takes a ``Sight`` and returns numbers by name; none if it has nothing to say of that machine or run. It
changes nothing: a run is the same, bit for bit, whoever looks on.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.learning.likelihood import Likelihood, expectations, sweeps
from harmonium.learning.objective import Batch
from harmonium.learning.tempered import Tempered
from harmonium.likelihood import annealed, pseudo
from harmonium.machine import Known, Machine, State
from harmonium.path import base_machine
from harmonium.sampling import exchange
from harmonium.training.loop import Run
from harmonium.training.state import State as RunState
from harmonium.training.state import parameters
from harmonium.units import Unit

SWEEPS = 10
"""Gibbs sweeps after which chains are compared with themselves."""

STILL = 0.01
"""A hidden unit whose mean moves by less than this share of its range, over the rows watched, says nothing of them."""

DEAR = 64
"""Rows of those watched that the pseudo-likelihood is taken of, about: it costs as much as all other monitors."""

N_CHAINS, N_TEMPERATURES = 64, 500
"""Of the annealing that a log-likelihood in the course of a run is worth."""


class Sight(eqx.Module):
    """What monitors see: a run and its state, some of the rows learned from, rows held out, and the data's means."""

    run: Run[Machine]
    state: RunState[Machine]
    learned: State
    held: State | None
    means: State | None
    log_volume: Float[Array, ""]

    @property
    def model(self) -> Machine:
        """The model that would be used if the run ended here."""
        return self.state.result


Monitor = Callable[[Sight], dict[str, Any]]


def log_likelihood(sight: Sight) -> dict[str, Any]:
    """Mean log p(x) = -F(x) - log Z of rows learned from and of rows held out, and the standard error of log Z.

    By annealed importance sampling with the same key each time: what chance adds is nearly the same for models that
    resemble each other.
    """
    key = jax.random.key(0, impl="philox4x32")
    base = base_machine(sight.model, sight.means)
    z = annealed.log_partition(sight.model, key, base=base, n_chains=N_CHAINS, n_temperatures=N_TEMPERATURES)
    constant = z.estimate + sight.log_volume
    found = {} if sight.held is None else {"validation_log_likelihood": -_free_energy(sight.model, sight.held)}
    found["log_likelihood"] = -_free_energy(sight.model, sight.learned)
    return {name: value - constant for name, value in found.items()} | {"log_partition_error": z.standard_error}


def pseudo_likelihood(sight: Sight) -> dict[str, Any]:
    """Mean Σᵢ log p(xᵢ | x₋ᵢ) of rows learned from, where columns are discrete."""
    visible = sight.model.layers[: sight.model.n_visible]
    if any(unit.states() is None for unit in visible) or _touching(sight.model):
        return {}
    every = max(1, len(sight.learned[0]) // DEAR)
    some = tuple(x[::every] for x in sight.learned)
    return {"pseudo_likelihood": jnp.mean(pseudo.log_pseudolikelihood(sight.model, some))}


def reconstruction_error(sight: Sight) -> dict[str, Any]:
    """Mean squared distance of rows from their means given the hidden means given them: no measure of likelihood."""
    model = sight.model
    filled = expectations(model, _known(model, sight.learned))
    hidden: Known = (None,) * model.n_visible + filled[model.n_visible :]
    error = jnp.zeros((), model.layers[0].bias.dtype)
    for layer, x in enumerate(sight.learned):
        difference = x - model.layers[layer].mean(model.inputs_from_others(hidden, layer))
        error = error + jnp.sum(difference**2) / len(x)
    return {"reconstruction_error": error}


def free_energy_gap(sight: Sight) -> dict[str, Any]:
    """⟨F⟩ of rows held out less ⟨F⟩ of rows learned from, in nats: it grows as a model overfits (Hinton 2012, §6)."""
    if sight.held is None or _touching(sight.model):
        return {}
    return {"free_energy_gap": _free_energy(sight.model, sight.held) - _free_energy(sight.model, sight.learned)}


def gradient_norm(sight: Sight) -> dict[str, Any]:
    """|∂/∂θ| as the objective estimates it from the rows watched: at an optimum, what chance leaves."""
    state, rows = sight.state, sight.learned
    n = len(rows[0])
    batch = Batch(rows, jnp.ones(n, rows[0].dtype), jnp.asarray(n, rows[0].dtype))
    gradient, _ = sight.run.objective.step(
        jax.random.fold_in(state.key, state.step), state.model, state.objective, batch
    )
    squares = [jnp.sum(leaf**2) for leaf in jax.tree.leaves(parameters(gradient))]
    return {"gradient_norm": jnp.sqrt(jnp.sum(jnp.stack(squares)))}


def hidden_activity(sight: Sight) -> dict[str, Any]:
    """How many hidden units are the same whatever the row: at the top of their range (saturated), or below (dead)."""
    model = sight.model
    if model.n_visible == len(model.layers):
        return {}
    known = _known(model, sight.learned)
    dead = saturated = jnp.zeros((), jnp.int32)
    for layer in range(model.n_visible, len(model.layers)):
        unit, inputs = model.layers[layer], model.inputs_from_others(known, layer)
        mean = unit.mean(inputs)
        most, span = _range(unit, inputs)
        still = jnp.max(mean, axis=0) - jnp.min(mean, axis=0) < STILL * span
        top = still & (jnp.mean(mean, axis=0) > most - STILL * span)
        if unit.one_hot:
            still, top = jnp.all(still, axis=-1), jnp.any(top, axis=-1) & jnp.all(still, axis=-1)
        saturated = saturated + jnp.sum(top).astype(jnp.int32)
        dead = dead + jnp.sum(still & ~top).astype(jnp.int32)
    return {"dead_units": dead, "saturated_units": saturated}


def chain_memory(sight: Sight) -> dict[str, Any]:
    r"""How much chains remember after ``SWEEPS`` sweeps: the correlation of their visible values then and before.

    Σᵢ cov(xᵢ, x'ᵢ) / √(Σᵢ var(xᵢ) Σᵢ var(x'ᵢ)) over chains: near 1 chains stay where they are; 1 as well if all are in
    one place.
    """
    chains = sight.run.objective.chains(sight.state.objective)
    if chains is None or len(chains[0]) < 2:
        return {}
    key = jax.random.fold_in(sight.state.key, sight.state.step)
    later = sweeps(key, sight.state.model, chains, SWEEPS)
    n = sight.state.model.n_visible
    before, after = (_centred(state[:n]) for state in (chains, later))
    size = jnp.sqrt(jnp.sum(before**2) * jnp.sum(after**2))
    return {"chain_memory": jnp.where(size > 0, jnp.sum(before * after) / jnp.where(size > 0, size, 1), 1)}


@eqx.filter_jit
def swap_rate(sight: Sight) -> dict[str, Any]:
    """Where learning is by tempered chains: how often the two neighbours on the ladder swap that swap least."""
    objective = sight.run.objective
    if not (isinstance(objective, Likelihood) and isinstance(objective.negative, Tempered)):
        return {}
    (ladder, state, _), _ = sight.state.objective
    key = jax.random.fold_in(sight.state.key, sight.state.step)
    swapped = exchange.half_step(key, ladder.replicas(sight.state.model), state, 0)[1].swapped
    return {"swap_rate": jnp.min(swapped)}


MONITORS: Mapping[str, Monitor] = MappingProxyType(
    {
        "log_likelihood": log_likelihood,
        "pseudo_likelihood": pseudo_likelihood,
        "reconstruction_error": reconstruction_error,
        "free_energy_gap": free_energy_gap,
        "gradient_norm": gradient_norm,
        "hidden_activity": hidden_activity,
        "chain_memory": chain_memory,
        "swap_rate": swap_rate,
    }
)
CHEAP = tuple(name for name in MONITORS if name != "log_likelihood")
"""All but the one that takes an annealing."""


def look(sight: Sight, names: tuple[str, ...]) -> dict[str, int | float]:
    """What the monitors of these names find; whole numbers stay whole."""
    cheap = _cheap(sight, tuple(name for name in names if name in CHEAP))
    found = {name: value for part in cheap for name, value in part.items()}
    found |= {name: value for dear in names if dear not in CHEAP for name, value in MONITORS[dear](sight).items()}
    return {name: jnp.asarray(value).item() for name, value in found.items()}


@eqx.filter_jit
def _cheap(sight: Sight, names: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """What they find, in one program; one dict each, for JAX sorts a dict by its keys."""
    return tuple(MONITORS[chosen](sight) for chosen in names)


def _free_energy(model: Machine, rows: State) -> Array:
    return jnp.mean(_free_energies(model, rows))


@eqx.filter_jit
def _free_energies(model: Machine, rows: State) -> Float[Array, " rows"]:
    return model.free_energy(_known(model, rows))


def _known(model: Machine, rows: State) -> Known:
    return rows + (None,) * (len(model.layers) - model.n_visible)


def _touching(model: Machine) -> bool:
    """Whether hidden layers touch, so that F has no closed form."""
    return any(min(join) >= model.n_visible for join in model.joins)


def _range(unit: Unit, inputs: Array) -> tuple[Array, Array]:
    """The largest mean a unit can have, and the width of what it can be; without ends, the width of its chance."""
    states = unit.states()
    if states is None:
        return jnp.asarray(jnp.inf, inputs.dtype), jnp.sqrt(jnp.mean(unit.variance(inputs), axis=0))
    return jnp.max(states), jnp.max(states) - jnp.min(states)


def _centred(state: State) -> Float[Array, "chain values"]:
    flat = jnp.concatenate([x.reshape(len(x), -1) for x in state], axis=1)
    return flat - jnp.mean(flat, axis=0, keepdims=True)
