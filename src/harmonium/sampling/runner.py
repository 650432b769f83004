"""The runner: warm-up, thinning, and a fold over the draws, in one compiled loop, for any kernel and any machine."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from harmonium.errors import ArgumentError
from harmonium.machine import Machine, State
from harmonium.sampling import gibbs
from harmonium.sampling.folds import Fold, Keep
from harmonium.sampling.gibbs import Clamp
from harmonium.units.unit import Values, known

Kernel = Callable[[Key[Array, ""], Machine, State, Clamp | None], tuple[State, Any]]
"""One step of a Markov chain: key, machine, state, clamp -> next state, and what the step did."""


def sample(
    machine: Machine,
    key: Key[Array, ""],
    n_chains: int | None = None,
    n_draws: int = 1,
    *,
    warm_up: int = 100,
    thin: int = 1,
    initial: Sequence[Values] | None = None,
    clamp: Sequence[Values | bool] | None = None,
) -> State:
    """Draws from a machine by block Gibbs sampling: one array a layer, ``(chain, draw, *layer.shape)``.

    With ``initial`` the chains start there, a row a chain. With ``clamp`` (for each layer True, False, or a mask
    ``(chain, n)`` whose True entries keep their initial value) the draws are from the conditional distribution.

    >>> import harmonium as hm
    >>> machine = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(3), key=hm.key(0))
    >>> v, h = hm.sample(machine, hm.key(1), n_chains=5, n_draws=2)
    >>> v.shape, h.shape
    ((5, 2, 4), (5, 2, 3))
    """
    state, held, run_key = start_of(machine, key, n_chains, initial, clamp)
    draws: State = run(run_key, machine, state, Keep(), n_draws, warm_up=warm_up, thin=thin, clamp=held)[1]
    return draws


def run(
    key: Key[Array, ""],
    machine: Machine,
    state: State,
    fold: Fold,
    n_draws: int,
    *,
    warm_up: int | Int[Array, ""] = 0,
    thin: int | Int[Array, ""] = 1,
    clamp: Clamp | None = None,
    kernel: Kernel = gibbs.step,
    start: int | Int[Array, ""] = 0,
) -> tuple[State, Any]:
    """Run chains from ``state``: ``warm_up`` steps, then ``n_draws`` draws, ``thin`` steps apart; (state, fold result).

    Step t uses the key of (``key``, ``start`` + t), so that a run continued from its last state, with ``start`` at the
    number of steps made, gives the same chain as one long run. Only a new ``n_draws`` (or shape) compiles anew.
    """
    for name, value, least in (("n_draws", n_draws, 1), ("warm_up", warm_up, 0), ("thin", thin, 1)):
        if value < least:
            raise ArgumentError(name, f"{value}", f"at least {least}")
    machine.require_normalisable()
    counts = (jnp.asarray(warm_up), jnp.asarray(thin), jnp.asarray(start))
    result: tuple[State, Any] = _run(key, machine, state, fold, n_draws, counts, clamp, kernel)
    return result


@eqx.filter_jit
def _run(
    key: Key[Array, ""],
    machine: Machine,
    state: State,
    fold: Fold,
    n_draws: int,
    counts: tuple[Array, Array, Array],
    clamp: Clamp | None,
    kernel: Kernel,
) -> tuple[State, Any]:
    warm_up, thin, start = counts

    def advance(t: Array, state: State) -> State:
        return kernel(jax.random.fold_in(key, t), machine, state, clamp)[0]

    def draw(carry: tuple[State, Any], index: Array) -> tuple[tuple[State, Any], None]:
        state, total = carry
        first = start + warm_up + index * thin
        state = jax.lax.fori_loop(first, first + thin, advance, state)
        return (state, fold.add(total, machine, state, index)), None

    state = jax.lax.fori_loop(start, start + warm_up, advance, state)
    carry = (state, fold.start(machine, state, n_draws))
    (state, total), _ = jax.lax.scan(draw, carry, jnp.arange(n_draws))
    return state, fold.result(total)


def start_of(
    machine: Machine,
    key: Key[Array, ""],
    n_chains: int | None,
    initial: Sequence[Values] | None,
    clamp: Sequence[Values | bool] | None,
) -> tuple[State, Clamp | None, Key[Array, ""]]:
    """Where chains start, what they hold, and the key of their steps."""
    init_key, run_key = jax.random.split(key)
    if initial is None:
        if clamp is not None:
            raise ArgumentError("initial", "nothing", "the values to hold, since clamp is given")
        if n_chains is None or n_chains < 1:
            raise ArgumentError("n_chains", f"{n_chains}", "a number of chains, or initial configurations")
        state = gibbs.init(init_key, machine, n_chains)
    else:
        state = _as_state(machine, initial, n_chains)
    held = None if clamp is None else _as_clamp(machine, clamp, len(state[0]))
    return state, held, run_key


def _as_state(machine: Machine, initial: Sequence[Values], n_chains: int | None) -> State:
    if len(initial) != len(machine.layers):
        raise ArgumentError("initial", f"{len(initial)} arrays", f"one for each of {', '.join(machine.names)}")
    state: list[Array] = []
    for name, unit, values in zip(machine.names, machine.layers, initial, strict=True):
        x = jnp.asarray(values, unit.bias.dtype)
        rows = len(state[0]) if state else n_chains or (len(x) if x.ndim else 0)
        if x.shape != (rows, *unit.shape):
            raise ArgumentError("initial", f"shape {x.shape} for {name!r}", f"{(rows, *unit.shape)}, a row a chain")
        if known(x) and not bool(unit.contains(x).all()):
            raise ArgumentError("initial", f"values in {name!r} outside its domain", unit.domain)
        state.append(x)
    return tuple(state)


def _as_clamp(machine: Machine, clamp: Sequence[Values | bool], n_chains: int) -> Clamp:
    if len(clamp) != len(machine.layers):
        raise ArgumentError("clamp", f"{len(clamp)} entries", f"one for each of {', '.join(machine.names)}")
    held: list[Array | bool] = []
    for name, unit, mask in zip(machine.names, machine.layers, clamp, strict=True):
        if not isinstance(mask, bool):
            mask = jnp.asarray(mask)
            if mask.dtype != bool or mask.shape != (n_chains, unit.n):
                found = f"{mask.dtype} of shape {mask.shape} for {name!r}"
                raise ArgumentError("clamp", found, f"True, False, or booleans of shape {(n_chains, unit.n)}")
        held.append(mask)
    return tuple(held)
