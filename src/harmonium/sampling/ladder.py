"""Ladders of machines for replica exchange: how they are climbed, and where their rungs are best."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree, Scalar

from harmonium.machine import Machine, State
from harmonium.sampling import exchange, gibbs
from harmonium.sampling.exchange import Info, Replicas, divided, joined, summable
from harmonium.sampling.folds import Fold, Keep
from harmonium.sampling.gibbs import Clamp
from harmonium.sampling.runner import run, start_of
from harmonium.units.unit import Values

LEAST = 1e-3
"""A rejection rate that every pair is credited with where rungs are placed, so that none fall together."""


class Ladder(eqx.Module):
    """Where the rungs between two machines are; as a kernel of the runner, one step of exchange on it."""

    places: eqx.AbstractVar[Float[Array, " replica"]]

    @abstractmethod
    def replicas(self, machine: Machine) -> Replicas:
        """The machines of the rungs; the last is the given one."""

    def __call__(
        self, key: Key[Array, ""], machine: Machine, state: State, clamp: Clamp | None = None
    ) -> tuple[State, Info]:
        """One step."""
        return exchange.step(key, self.replicas(machine), state, clamp)

    def init(self, key: Key[Array, ""], machine: Machine, n_chains: int) -> State:
        """``n_chains`` chains in each replica, at independent draws of every layer under its bias alone."""

        def one(machine: Machine, beta: Scalar, key: Key[Array, ""]) -> State:
            layers = tuple(unit.scaled(beta) for unit in machine.layers)
            return gibbs.init(key, eqx.tree_at(lambda m: m.layers, machine, layers), n_chains)

        return joined(self.replicas(machine).map(one, jax.random.split(key, len(self.places))))

    def rises(self, machine: Machine, state: State, clamp: Clamp | None = None) -> tuple[Array, Array]:
        """Those of its replicas, at a state of all of them."""
        summed = summable(machine, clamp)
        apart = divided(state, len(self.places))
        return self.replicas(machine).rises(tuple(None if i in summed else x for i, x in enumerate(apart)))

    def evened(self, swapped: Float[Array, " pair"], share: Scalar | float = 1.0) -> "Ladder":
        r"""The rungs moved (all the way, or a share of it) to where all swaps would be about equally frequent.

        The rejection rates add up along the ladder: rungs are placed at equal steps of Λ(t) = Σ rejections up to t,
        interpolated between the old ones (Syed et al. 2022, §5.1 and algorithm 3). The ends stay.
        """
        reached = jnp.concatenate([jnp.zeros(1, swapped.dtype), jnp.cumsum(1 - swapped + LEAST)])
        wanted = jnp.interp(jnp.linspace(0, reached[-1], len(reached), dtype=reached.dtype), reached, self.places)
        places = self.places + share * (wanted - self.places)
        changed: Ladder = eqx.tree_at(lambda ladder: ladder.places, self, places)
        return changed

    def own(self, state: State) -> State:
        """The chains of the machine itself, those of the last replica."""
        own: State = jax.tree.map(lambda x: x[-1], divided(state, len(self.places)))
        return own


class Own(Fold):
    """A fold over the chains of the machine itself, and for each draw and pair of neighbours the two rises of F.

    The rises are ``(chain, draw, pair)``: F_r - F_r+1 where r is, and where r+1 is.
    """

    ladder: Ladder
    fold: Fold
    clamp: Clamp | None = None

    def start(self, machine: Machine, state: State, n_draws: int) -> PyTree:
        chains, pairs = len(state[0]) // len(self.ladder.places), len(self.ladder.places) - 1
        empty = jnp.zeros((n_draws, chains, pairs), self.ladder.places.dtype)
        return self.fold.start(machine, self.ladder.own(state), n_draws), (empty, empty)

    def add(self, total: PyTree, machine: Machine, state: State, draw: Array) -> PyTree:
        kept, rises = total
        found = self.ladder.rises(machine, state, self.clamp)
        rises = tuple(old.at[draw].set(new.T) for old, new in zip(rises, found, strict=True))
        return self.fold.add(kept, machine, self.ladder.own(state), draw), rises

    def result(self, total: PyTree) -> Any:
        kept, rises = total
        return self.fold.result(kept), tuple(jnp.moveaxis(rise, 0, 1) for rise in rises)


@eqx.filter_jit
def adapt(
    key: Key[Array, ""],
    machine: Machine,
    ladder: Ladder,
    state: State,
    n_steps: Int[Array, ""],
    start: Int[Array, ""],
    clamp: Clamp | None = None,
) -> tuple[State, Ladder]:
    """The state after some steps, of which the first has the number ``start``, and the ladder evened by their swaps."""
    replicas = ladder.replicas(machine)

    def advance(t: Array, carry: tuple[State, Array]) -> tuple[State, Array]:
        state, swapped = carry
        state, info = exchange.step(jax.random.fold_in(key, t), replicas, state, clamp)
        return state, swapped + info.swapped / n_steps

    begin = (state, jnp.zeros_like(ladder.places[1:]))
    state, swapped = jax.lax.fori_loop(start, start + n_steps, advance, begin)
    return state, ladder.evened(swapped)


class Exchanged(NamedTuple):
    """What replica exchange found: draws of the machine, the ladder as it was in the end, and how well it was climbed.

    ``swapped`` is the mean probability of a swap for each pair of neighbours; ``rises`` are F_r - F_r+1 at the draws of
    r, and at those of r+1, each ``(chain, draw, pair)``.
    """

    draws: Any
    ladder: Ladder
    swapped: Float[Array, " pair"]
    rises: tuple[Float[Array, "chain draw pair"], Float[Array, "chain draw pair"]]


def exchanged(
    machine: Machine,
    key: Key[Array, ""],
    ladder: Ladder,
    n_chains: int | None = None,
    n_draws: int = 1,
    *,
    warm_up: int = 100,
    thin: int = 1,
    initial: Sequence[Values] | None = None,
    clamp: Sequence[Values | bool] | None = None,
    fold: Fold = Keep(),  # noqa: B008, it is immutable
) -> Exchanged:
    """Draws from a machine by replica exchange on a ladder: of ``temperatures`` or of ``stages``.

    In the first half of the warm-up the rungs are moved to where all swaps are about equally frequent; from then on
    they stay. With ``initial`` and ``clamp`` as in ``sample``, all replicas start there, and hold it.

    >>> import harmonium as hm
    >>> machine = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(3), key=hm.key(0))
    >>> found = exchanged(machine, hm.key(1), hm.temperatures(machine, 3), n_chains=5, n_draws=2)
    >>> found.draws[0].shape, found.swapped.shape
    ((5, 2, 4), (2,))
    """
    machine.require_normalisable()
    n = len(ladder.places)
    state, held, run_key = start_of(machine, key, n_chains, initial, clamp)
    if initial is None:
        state = ladder.init(jax.random.split(key)[0], machine, len(state[0]))
    else:
        state = tuple(jnp.tile(x, (n, *[1] * (x.ndim - 1))) for x in state)
        held = jax.tree.map(lambda mask: mask if isinstance(mask, bool) else jnp.tile(mask, (n, 1)), held)
    done = 0
    for steps in (warm_up // 12, warm_up // 6, warm_up // 4):
        if steps:
            state, ladder = adapt(run_key, machine, ladder, state, jnp.asarray(steps), jnp.asarray(done), held)
            done += steps
    own, rest = Own(ladder, fold, held), {"warm_up": warm_up - done, "thin": thin, "start": done}
    kept, rises = run(run_key, machine, state, own, n_draws, clamp=held, kernel=ladder, **rest)[1]
    return Exchanged(kept, ladder, jnp.exp(jnp.minimum(rises[0] - rises[1], 0)).mean((0, 1)), rises)
