"""A step of PCD-1: what one more update costs once a run is going, compilation and batching left out.

Ours is timed as a run makes it: one compiled chunk of as many steps as `fit` would put into it, with the defaults of
`harmonium.RBM` (centred, averaged, penalised), and with none of these, as the peers have none.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import harmonium as hm
from benchmarks import limits, peers
from benchmarks.harness import Contender, Row, race, sized, table
from harmonium import sampling
from harmonium.data import Batches, Plain, read
from harmonium.estimators import fitting
from harmonium.learning import Likelihood, Persistent
from harmonium.training import Run, Schedule, State, advance, optimiser
from harmonium.training import loop as loops

SHAPES = [(64, 100, 10), (784, 500, 10), (784, 500, 100), (784, 500, 500), (784, 500, 2000)]
"""Visible units, hidden units, rows of a batch, which are also the chains."""

SCIKIT_LEARN = {10: 2.0, 100: 2.5, 500: 2.5}
LIMIT = {100: 0.75, 500: 0.85, 2000: 0.85}


def measure(quick: bool) -> str:
    """All shapes, ours against scikit-learn, PyTorch, `rbms` and the five products."""
    return table([row for shape in SHAPES for row in _of(*shape, rounds=8 if quick else 30)])


def rows_of(n_visible: int, n_rows: int) -> np.ndarray:
    """Rows of 0 and 1 whose columns have means of their own."""
    chance = np.random.default_rng(1)
    means = chance.uniform(0.05, 0.6, n_visible).astype(np.float32)
    return (chance.random((n_rows, n_visible), np.float32) < means).astype(np.float32)


def starting(n_visible: int, n_hidden: int) -> peers.Parameters:
    """Small random weights, biases at zero."""
    W = np.random.default_rng(2).normal(0, 0.01, (n_visible, n_hidden)).astype(np.float32)
    return W, np.zeros(n_visible, np.float32), np.zeros(n_hidden, np.float32)


def _of(n_visible: int, n_hidden: int, batch: int, rounds: int) -> list[Row]:
    X = rows_of(n_visible, max(10 * batch, 2000))
    batches = X[: len(X) // batch * batch].reshape(-1, batch, n_visible)
    start = starting(n_visible, n_hidden)
    slice_s = 0.1 if batch < 500 else 0.2
    contenders = [
        Contender("defaults", *default(X, n_hidden, batch)),
        Contender("plain", *plain(X, n_hidden, batch)),
        sized("scikit-learn", peers.scikit_learn_steps(start, batches), slice_s),
        sized("PyTorch, eager", peers.torch_steps(start, batches), slice_s),
        sized("rbms, centred", peers.rbms_steps(start, batches, centred=True, l2=4 / len(X)), slice_s),
        sized("rbms, plain", peers.rbms_steps(start, batches, centred=False), slice_s),
        limits.learning(n_visible, n_hidden, batch),
    ]
    found = race(contenders, rounds)
    what = f"PCD-1 step, {n_visible} × {n_hidden}, batch {batch}"
    lines = []
    for ours in ("defaults", "plain"):
        wanted = {
            "scikit-learn": SCIKIT_LEARN.get(batch),
            "PyTorch, eager": 2.0,
            f"rbms, {'centred' if ours == 'defaults' else 'plain'}": 3.5,
            "five products": LIMIT.get(batch),
        }
        lines += found.rows(what, ours, wanted)
    return lines


def default(X: np.ndarray, n_hidden: int, batch: int) -> tuple[Callable[[], object], int]:
    """A chunk of the run that ``harmonium.RBM(n_hidden, batch_size=batch).fit(X)`` makes, and its number of steps."""
    return _chunk(*parts(X, n_hidden, batch))


def parts(X: np.ndarray, n_hidden: int, batch: int) -> tuple[Run[hm.Machine], State[hm.Machine], Batches]:
    """What ``harmonium.RBM(n_hidden, batch_size=batch).fit(X)`` follows: the run, its start, and the batches."""
    model = hm.RBM(n_hidden, batch_size=batch)
    rows, key, n = read(X), sampling.key(0), float(len(X))
    layer = model._layer(rows, None, n)
    run = fitting.build(model._parameters(), layer, n)
    state = run.start(jax.random.fold_in(key, 1), model._machine(layer, key), (layer.mean,))
    return run, state, Batches(rows, batch, 0)


def plain(X: np.ndarray, n_hidden: int, batch: int) -> tuple[Callable[[], object], int]:
    """A chunk of a run like that of ``harmonium.BernoulliRBM``: a constant rate, no centring, average or penalty."""
    objective = Likelihood(Persistent(batch), centred=False)
    rate = Schedule(jnp.asarray(peers.RATE), jnp.asarray(1))
    run = Run(objective, optimiser("sgd", rate), fitting.Encode(Plain()), emphasis=None)
    machine = hm.rbm(hm.Bernoulli(X.shape[1]), hm.Bernoulli(n_hidden), key=hm.key(0))
    state = run.start(sampling.key(0), machine, (jnp.zeros(X.shape[1]),))
    return _chunk(run, state, Batches(read(X), batch, 0))


def _chunk(run: Run[hm.Machine], state: State[hm.Machine], batches: Batches) -> tuple[Callable[[], object], int]:
    size = loops.chunk_size(batches.batch_size, batches.rows.n_columns, state.model)
    chunk = loops.Chunk(*map(jnp.asarray, loops._chunk(batches, 0, size, size)))

    def work() -> None:
        nonlocal state  # from where the last slice ended: its buffers may be given away
        state, made, sound = jax.block_until_ready(advance(run, state, chunk))
        assert sound
        assert made == size

    return work, size
