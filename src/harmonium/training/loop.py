"""The loop: chunks of steps, each one compiled call; between them is the place for all that looks on."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from harmonium.data import Batches, prefetch
from harmonium.errors import DivergenceError
from harmonium.learning.objective import Batch, Objective
from harmonium.training import state as states
from harmonium.training.optimisers import Optimiser
from harmonium.training.state import State, parameters

LIMIT = 1e6
"""Beyond this size an input has diverged: e^-10⁶ is zero in every arithmetic."""

CHUNK_BYTES = 2**26
CHUNK_WORK = 2**33
"""Multiplications in a chunk: roughly a quarter of a second on two cores."""

Model = TypeVar("Model", bound=eqx.Module)
Visible = tuple[Float[Array, "..."], ...]


class Run(eqx.Module, Generic[Model]):
    """What stays the same from the first step to the last.

    ``encode`` turns rows into values of the visible layers, inside the compiled step; ``emphasis`` is the η of the
    average of the parameters, or None for no average.
    """

    objective: Objective[Model]
    optimiser: Optimiser
    encode: Callable[[Float[Array, "batch columns"]], Visible]
    emphasis: float | None = eqx.field(default=4.0, static=True)

    def start(self, key: Key[Array, ""], model: Model, means: Visible) -> State[Model]:
        """The state before the first step; ``means`` are those of the visible layers in the data."""
        first, key = jax.random.split(key)
        carried = self.objective.init(first, model, means)
        moved = self.optimiser.init(self.objective.place(model))
        return states.start(model, moved, carried, key, self.emphasis is not None)

    def batch(self, chunk: "Chunk", i: Int[Array, ""]) -> Batch:
        """Step i of a chunk, as the objective sees it."""
        return Batch(self.encode(chunk.rows[i]), chunk.weights[i], chunk.full)


class Chunk(eqx.Module):
    """Some steps' rows and weights, and the number n of steps that count: the shape stays, n may be smaller.

    Batch n, of the step after them, is there to look at the model that they leave.
    """

    rows: Float[Array, "n_batches batch columns"]
    weights: Float[Array, "n_batches batch"]
    full: Float[Array, ""]
    n: Int[Array, ""]


def update(run: Run[Model], state: State[Model], batch: Batch) -> State[Model]:
    """One step."""
    model, key = state.model, jax.random.fold_in(state.key, state.step)
    gradient, carried = run.objective.step(key, model, state.objective, batch)
    gradient = run.objective.enter(model, gradient, carried)
    here, extra = run.objective.place(model), dict[str, Any]()
    if run.optimiser.searches:

        def loss(there: Model) -> Array:  # the way there is a step like all others, in the variables of the gradient
            way = run.objective.leave(model, jax.tree.map(jnp.subtract, there, here), carried)
            return -run.objective.value(eqx.apply_updates(model, way), batch)

        extra = {"value": loss(here), "grad": jax.tree.map(lambda g: -g, gradient), "value_fn": loss}
    step, optimiser = run.optimiser.step(gradient, state.optimiser, here, state.step, **extra)
    if run.optimiser.searches:
        # At an optimum differences are rounding errors, and steps that follow from them lead anywhere: begun anew.
        value = extra["value"]
        rounding = 10 * np.finfo(value.dtype).eps * jnp.abs(value)
        lower = loss(eqx.apply_updates(here, step)) > value + rounding
        stay = jax.tree.map(jnp.zeros_like, step), run.optimiser.init(here)
        step, optimiser = jax.tree.map(lambda a, b: jnp.where(lower, a, b), stay, (step, optimiser))
    model = eqx.apply_updates(model, run.objective.leave(model, step, carried))
    average = state.average
    if average is not None and run.emphasis is not None:
        average = states.averaged(average, model, state.step, run.emphasis)
    return State(model, average, optimiser, carried, state.key, state.step + 1)


@eqx.filter_jit
def advance(run: Run[Model], state: State[Model], chunk: Chunk) -> tuple[State[Model], Int[Array, ""], Bool[Array, ""]]:
    """The state after the steps of a chunk, how many of them were made, and whether the model they left is sound.

    A model is looked at with the batch of the step that starts from it, wherever chunks end; if it is out of bounds,
    that step is the last.
    """
    moving, fixed = eqx.partition(state, eqx.is_array)

    def bounded(model: Model, batch: Batch) -> Bool[Array, ""]:
        sizes = run.objective.magnitudes(model, batch)
        return jnp.all(jnp.stack(list(sizes.values())) < LIMIT)

    def goes_on(carry: tuple[Array, Array, Any]) -> Bool[Array, ""]:
        i, sound, _ = carry
        return sound & (i < chunk.n)

    def step(carry: tuple[Array, Array, Any]) -> tuple[Array, Array, Any]:
        i, _, moving = carry
        state = eqx.combine(moving, fixed)
        batch = run.batch(chunk, i)
        return i + 1, bounded(state.model, batch), eqx.filter(update(run, state, batch), eqx.is_array)

    begin = (jnp.zeros((), jnp.int32), jnp.ones((), bool), moving)
    i, sound, moving = jax.lax.while_loop(goes_on, step, begin)
    state = eqx.combine(moving, fixed)
    finite = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(parameters(state.model))]
    return state, i, sound & jnp.all(jnp.stack(finite)) & bounded(state.model, run.batch(chunk, i))


def chunks(
    run: Run[Model], state: State[Model], batches: Batches, until: int, size: int, every: int | None = None
) -> Iterator[State[Model]]:
    """The states at the ends of chunks of at most ``size`` steps, up to step ``until``; also at multiples of ``every``.

    Raises ``DivergenceError`` with the last state that was sound.
    """
    step = int(state.step)
    ends = []
    while step < until:
        end = min(step + size, until, until if every is None else (step // every + 1) * every)
        ends.append((step, end))
        step = end

    def made() -> Iterator[tuple[np.ndarray, ...]]:
        for first, end in ends:
            yield _chunk(batches, first, end - first, size)

    for arrays in prefetch(made()) if len(ends) > 1 else made():  # of one chunk nothing can be made ahead
        chunk = Chunk(*map(jnp.asarray, arrays))  # here: the precision that was asked for is this thread's alone
        after, n, sound = advance(run, state, chunk)
        if not sound:
            raise _diverged(run, state, chunk, int(n))
        state = states.at_home(after)
        yield state


def chunk_size(batch: int, columns: int, model: eqx.Module) -> int:
    """Steps in a chunk: as many as fill ``CHUNK_WORK`` or ``CHUNK_BYTES``; a function of shapes alone."""
    learned = sum(leaf.size for leaf in jax.tree.leaves(parameters(model)))
    return int(np.clip(min(CHUNK_WORK // (batch * learned), CHUNK_BYTES // (4 * batch * columns)), 1, 1000))


def _chunk(batches: Batches, first: int, n: int, size: int) -> tuple[np.ndarray, ...]:
    """What a ``Chunk`` of ``n`` steps holds, with room for ``size``."""
    rows, weights = batches.chunk(first, n + 1)
    if n < size:
        filled = np.zeros((size + 1, *rows.shape[1:]), rows.dtype)
        filled[: n + 1] = rows
        rows, given = filled, weights
        weights = np.zeros((size + 1, given.shape[1]), given.dtype)
        weights[: n + 1] = given
    return rows, weights, np.asarray(batches.batch_size, rows.dtype), np.asarray(n, np.int32)


def _diverged(run: Run[Model], state: State[Model], chunk: Chunk, n: int) -> DivergenceError:
    """The error for a chunk that was found wanting after n steps: made again in part, to see which step it was.

    What is not finite never heals, and what is out of bounds ends the chunk: so the step can be found by bisection.
    """

    def again(steps: int) -> tuple[State[Model], bool]:
        part = eqx.tree_at(lambda c: c.n, chunk, jnp.asarray(steps, jnp.int32))
        after, _, sound = advance(run, state, part)
        return after, bool(sound)

    good, bad = -1, n  # steps after which the model is sound, and is not; a run may begin with one that is not
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if again(middle)[1] else (good, middle)
    model = again(bad)[0].model
    found = [
        f"NaN or infinity in {jax.tree_util.keystr(path).lstrip('.')}"
        for path, leaf in jax.tree_util.tree_leaves_with_path(parameters(model))
        if not bool(jnp.isfinite(leaf).all())
    ]
    found += [
        f"{name} at {float(size):.3g}, beyond {LIMIT:g}"
        for name, size in run.objective.magnitudes(model, run.batch(chunk, jnp.asarray(bad))).items()
        if not bool(size < LIMIT)
    ]
    return DivergenceError(int(state.step) + bad, "; ".join(found), states.at_home(again(max(good, 0))[0]))
