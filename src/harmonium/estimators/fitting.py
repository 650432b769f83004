"""From an estimator's parameters to a run: what is climbed, by which steps, and who looks on."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float

from harmonium import sampling
from harmonium.build import rbm
from harmonium.data import Encoding, Rows
from harmonium.data.batches import permutation
from harmonium.errors import ArgumentError
from harmonium.estimators.encoded import Encoded
from harmonium.estimators.settings import Constraint, Instance, Number, OneOf, Some, Whole
from harmonium.estimators.visible import Visible
from harmonium.learning import (
    Contrastive,
    Exact,
    Likelihood,
    Negative,
    Objective,
    Penalties,
    Persistent,
    PseudoLikelihood,
    Tempered,
    shards,
)
from harmonium.machine import Machine
from harmonium.training import Optimiser, Run, Schedule, State, Watch, optimiser
from harmonium.training.course import Row
from harmonium.training.monitor import CHEAP, MONITORS, Sight, look
from harmonium.training.optimisers import NAMES
from harmonium.training.schedules import SHAPES
from harmonium.units import Binomial, Gaussian, Unit

N_UPDATES = 20_000
"""Updates of a run that is told nothing else: on sets from 1,600 to 50,000 rows more brought little (docs/results)."""

PRIOR = 4.0
"""The default of l2 is that of a normal prior of this precision on every weight: PRIOR over the number of rows."""

RATES = {"sgd": 0.1, "momentum": 0.01, "nesterov": 0.01, "adagrad": 0.05, "rmsprop": 0.001, "adam": 0.001, "lbfgs": 1.0}
SLOWER = {"visible": 0.1, "hidden": 0.3}
"""The rates of steps along the gradient are lower by these where a layer's values are unbounded."""

LOOKS = 20
"""How often the monitors look in the course of a run."""

N_WATCHED, N_HELD = 256, 2000
"""Rows that the monitors look at: of those learned from, spread evenly, and of those held out."""

EXACT = 256
"""The largest whole number up to which bfloat16 has all."""

AUTO = OneOf(("auto",))
NONE = OneOf((None,))
CONSTRAINTS: dict[str, tuple[Constraint, ...]] = {
    "method": (OneOf(("pcd", "pt", "cd", "exact", "pseudo")),),
    "n_gibbs": (Whole(),),
    "n_chains": (Whole(), NONE),
    "n_temperatures": (Whole(2),),
    "stages": (Whole(0),),
    "batch_size": (Whole(),),
    "n_updates": (AUTO, Whole()),
    "optimizer": (OneOf(NAMES), Instance(optax.GradientTransformation, "an optax transformation")),
    "learning_rate": (AUTO, Number(0.0, closed=False)),
    "schedule": (OneOf(tuple(SHAPES)),),
    "centred": (OneOf((True, False)),),
    "averaging": (OneOf((True, False)),),
    "l2": (AUTO, Number()),
    "l1": (Number(),),
    "sparsity": (Number(),),
    "sparsity_target": (Number(0.0, 1.0, closed=False),),
    "validation_fraction": (Number(0.0, 0.9),),
    "patience": (Whole(), NONE),
    "monitors": (OneOf(("auto", "all", "none")), Some(tuple(MONITORS))),
    "monitor_every": (AUTO, Whole()),
    "precision": (OneOf(("float32", "mixed")),),
    "devices": (OneOf((None, *shards.COUNTS)), Instance(tuple, "a tuple of ids of JAX's devices")),
}
"""What the parameters that say how to learn may be."""


class Encode(eqx.Module):
    """Rows as the visible layers of a machine that has one."""

    encoding: Encoding

    def __call__(self, rows: Float[Array, "batch columns"]) -> tuple[Float[Array, "..."]]:
        """The values that rows stand for."""
        return (self.encoding.values(rows),)


def split(n_rows: int, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The places of the rows to learn from, and of those held out."""
    n_held = round(fraction * n_rows)
    if fraction > 0 and not 0 < n_held < n_rows:
        wanted = "a fraction that leaves rows on both sides"
        raise ArgumentError("validation_fraction", f"{fraction} of {n_rows} rows", wanted)
    if not n_held:
        return np.arange(n_rows), None
    order = permutation(seed, 2**31, n_rows)  # of an epoch that no run reaches
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def build(p: dict[str, Any], layer: Visible, n_rows: float, *, streaming: bool = False) -> Run[Machine]:
    """The run that parameters ask for, on rows of that total weight; while ``streaming`` its end is not known."""
    penalties = Penalties(
        l2=jnp.asarray(PRIOR / n_rows if p["l2"] == "auto" else p["l2"], float) if p["l2"] != 0 else None,
        l1=p["l1"],
        sparsity=p["sparsity"],
        target=p["sparsity_target"],
        smoothing=jnp.asarray(1 / n_rows, float),
    )
    objective, emphasis = _objective(p, penalties), 4.0 if p["averaging"] else None
    return Run(objective, _optimiser(p, layer, streaming), Encode(layer.encoding), emphasis)


def begun(run: Run[Machine], seed: int, layer: Visible, hidden: Callable[[int], Unit], n_hidden: int) -> State[Machine]:
    """The state before the first step, with small random weights."""
    np.empty((layer.unit.bias.size, n_hidden), layer.mean.dtype)  # a MemoryError, where XLA would end the process
    state = _begun(run, jnp.asarray(seed), layer.unit, layer.mean, hidden, n_hidden)
    state.model.require_normalisable()
    return state


@eqx.filter_jit  # one program, where its operations one by one would be fifty
def _begun(
    run: Run[Machine], seed: Array, unit: Unit, mean: Array, hidden: Callable[[int], Unit], n_hidden: int
) -> State[Machine]:
    key = sampling.key(seed)
    machine = rbm(unit, hidden(n_hidden), key=jax.random.fold_in(key, 0))
    return run.start(jax.random.fold_in(key, 1), machine, (mean,))


def n_updates(p: dict[str, Any]) -> int:
    """The updates of a whole run."""
    if p["n_updates"] != "auto":
        return int(p["n_updates"])
    return 200 if p["optimizer"] == "lbfgs" else N_UPDATES


def batch_size(p: dict[str, Any], n_rows: int) -> int:
    """The rows of a full batch: all of them for optimisers that search along a line.

    On several devices it is always the same, filled up with rows of no weight where there are fewer.
    """
    if p["devices"] is not None:
        return int(p["batch_size"])
    return n_rows if p["optimizer"] == "lbfgs" else min(int(p["batch_size"]), n_rows)


def require_exact(p: dict[str, Any], layer: Visible, rows: Rows) -> None:
    """Raise ``ArgumentError`` if mixed precision was asked for and bfloat16 would change data or states."""
    if p["precision"] == "float32":
        return
    unit = layer.unit
    largest = max(abs(float(rows.summary().minimum.min())), float(rows.summary().maximum.max()))
    found = None
    if p["dtype"] != "float32":
        found = f"dtype {p['dtype']!r}"
    elif p["method"] == "pseudo":
        found = "method 'pseudo', which has no phases"
    elif p["hidden"] not in ("bernoulli", "spin"):
        found = f"{p['hidden']} hidden units"
    elif isinstance(unit, Gaussian) or not bool(rows.summary().all_integer.all()):
        found = f"{'columns of real numbers' if isinstance(unit, Gaussian) else 'fractions'} in X"
    elif isinstance(unit, Binomial) and largest > EXACT:
        found = f"counts up to {largest:g} in X"
    if found is not None:
        wanted = f"'float32'; or states of 0, 1 and -1, or counts up to {EXACT}, which have the 8 bits of bfloat16"
        raise ArgumentError("precision", f"'mixed' with {found}", wanted)


def _devices(p: dict[str, Any]) -> Mesh | None:
    """The devices that phases are spread over, if that was asked for."""
    asked = p["devices"]
    if asked is None:
        return None
    if p["method"] not in ("pcd", "cd"):
        wanted = "'pcd' or 'cd', whose rows and chains can be parted; or devices=None"
        raise ArgumentError("method", f"{p['method']!r} with devices={asked}", wanted)
    for name in ("batch_size", "n_chains"):
        if p[name] is not None and p[name] % shards.SHARDS:
            found = f"{p[name]} with devices={asked}"
            raise ArgumentError(name, found, f"a multiple of {shards.SHARDS}: so many equal parts are made of rows")
    return shards.mesh(asked)


def _objective(p: dict[str, Any], penalties: Penalties) -> Objective[Machine]:
    devices = _devices(p)
    if p["method"] == "pseudo":
        return PseudoLikelihood(penalties)
    negative: Negative
    n_chains = int(p["batch_size" if p["n_chains"] is None else "n_chains"])
    if p["method"] == "pcd":
        negative = Persistent(n_chains, int(p["n_gibbs"]))
    elif p["method"] == "pt":
        negative = Tempered(n_chains, int(p["n_temperatures"]), int(p["n_gibbs"]))
    elif p["method"] == "cd":
        negative = Contrastive(int(p["n_gibbs"]))
    else:
        negative = Exact()
    # A search along a line remembers gradients of many steps, which must be of the same variables.
    centred = bool(p["centred"]) and p["optimizer"] != "lbfgs"
    rounded = p["precision"] == "mixed"
    return Likelihood(negative, penalties, centred=centred, rounded=rounded, devices=devices)


def _optimiser(p: dict[str, Any], layer: Visible, streaming: bool) -> Optimiser:
    chosen = p["optimizer"]
    if chosen == "lbfgs" and p["method"] not in ("exact", "pseudo"):
        wanted = "'exact' or 'pseudo', whose values a search along a line can compare; or another optimizer"
        raise ArgumentError("method", f"{p['method']!r} with optimizer 'lbfgs'", wanted)
    rate = p["learning_rate"]
    if rate == "auto":
        rate = RATES[chosen] if isinstance(chosen, str) else 1.0
        if chosen in ("sgd", "momentum", "nesterov"):
            rate *= SLOWER["visible"] if layer.unit.tails() is not None else 1.0
            rate *= SLOWER["hidden"] if p["hidden"] in ("gaussian", "rectified", "dual_rectified") else 1.0
    shape = "constant" if streaming or chosen == "lbfgs" else p["schedule"]
    return optimiser(chosen, Schedule(jnp.asarray(rate, float), jnp.asarray(n_updates(p)), shape))


def watch(
    p: dict[str, Any], run: Run[Machine], layer: Visible, rows: Rows, learned: np.ndarray, held: np.ndarray | None
) -> Watch:
    """Who looks on, how often: at the same rows each time, ``N_WATCHED`` learned from and ``N_HELD`` held out."""
    spread = np.linspace(0, len(learned) - 1, N_WATCHED).astype(int)
    some = run.encode(jnp.asarray(rows.take(learned[spread])))
    others = None if held is None else run.encode(jnp.asarray(rows.take(held[:N_HELD])))
    names = monitors(p["monitors"], held is not None)

    def monitor(state: State[Machine]) -> Row:
        volume = jnp.asarray(Encoded(state.model, layer.encoding, None).log_volume)  # traced: another table, same code
        return look(Sight(run, state, some, others, (layer.mean,), volume), names)

    total, n = n_updates(p), int(p["stages"])
    every = max(1, total // LOOKS) if p["monitor_every"] == "auto" else int(p["monitor_every"])
    # Closer together in the beginning, where a model changes fastest.
    stages = tuple(total * (i + 1) ** 2 // (n + 1) ** 2 for i in range(n))
    if held is None:
        return Watch(every, monitor, stages=stages)
    return Watch(every, monitor, "validation_log_likelihood", p["patience"], stages)


def monitors(asked: Any, held: bool) -> tuple[str, ...]:
    """The names of the monitors that were asked for; with rows held out, also what they are held out for."""
    names = {"auto": CHEAP, "all": tuple(MONITORS), "none": ()}.get(asked, asked) if isinstance(asked, str) else asked
    return tuple(name for name in MONITORS if name in names or (held and name == "log_likelihood"))
