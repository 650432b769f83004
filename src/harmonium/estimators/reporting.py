"""From a fitted estimator and its rows to the plain values that a report is made from."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from harmonium import sampling
from harmonium.data import Rows, Standardised, read
from harmonium.errors import ArgumentError
from harmonium.estimators import encoded
from harmonium.estimators import visible as columns
from harmonium.estimators.account import held_out, independent
from harmonium.estimators.encoded import Encoded, over_rows
from harmonium.estimators.keeping import fingerprint
from harmonium.gauge import zero_sum
from harmonium.likelihood.interval import Interval
from harmonium.report import images, story
from harmonium.report.findings import Findings, Scores
from harmonium.report.mixing import Traces
from harmonium.report.mixture import SIZES, Mixture
from harmonium.sampling.diagnostics import Mixing, mixing, observed

N_CHAINS, N_DRAWS, THIN, GROWTH = 200, 50, 10, 500
"""Chains that the report looks at, how often, how many sweeps apart, and the sweeps before."""

MOST_DRAWN = 2**23
"""Values kept of these chains."""

MOST_ROWS = 5000
"""Rows of the data that moments are taken of."""


def page(
    estimator: Any, X: Any, X_test: Any, *, shape: Any = "auto", title: str | None = None, command: str | None = None
) -> str:
    """The report of a fitted estimator."""
    return story.report(findings(estimator, X, X_test, shape=shape, title=title, command=command))


def findings(
    estimator: Any, X: Any, X_test: Any, *, shape: Any = "auto", title: str | None = None, command: str | None = None
) -> Findings:
    """What there is to report."""
    model: Encoded = estimator._model
    parts = _parts(estimator, X, X_test)
    flat = some_values(model, next(iter(parts.values()))) if parts else None
    names, of_column, named = value_names(estimator)
    if isinstance(shape, str):
        if shape != "auto":
            raise ArgumentError("shape", f"{shape!r}", "'auto', (height, width) or None")
        unit = model.machine.layers[0]
        binary = unit.support == (0.0, 1.0) or (unit.states() is not None and not unit.one_hot)
        shape = None if named else images.inferred(int(estimator.n_features_in_), binary)
    elif shape is not None:
        images.require_shape(shape, len(names))
    draws, traces, mixed = drawn(model)
    log_z = _log_z(estimator, parts) if parts else None
    scores, notes = _scores(estimator, parts)
    return Findings(
        title=title
        or f"{type(estimator).__name__}: {estimator.n_features_in_} columns, {_n_hidden(model)} hidden units",
        facts=_facts(estimator, parts),
        scores=scores,
        log_z=log_z,
        notes=notes,
        history=estimator.history_,
        shape=shape,
        names=names,
        named=named,
        columns=of_column,
        weights=weights(model),
        variances=_variances(model, draws if flat is None else flat),
        data=flat,
        draws=draws,
        samples=draws.reshape(len(traces.values), -1, draws.shape[1])[:, -1],
        traces=traces,
        mixing=mixed,
        recipe=_recipe(estimator, parts, command),
    )


def _parts(estimator: Any, X: Any, X_test: Any) -> dict[str, Rows]:
    """The rows by what they were to the model: learned from, held out, not seen."""
    model: Encoded = estimator._model
    parts: dict[str, Rows] = {}
    for name, given in (("X", X), ("X_test", X_test)):
        if given is None:
            continue
        rows = read(given, dtype=estimator.dtype, name=name, n_columns=int(estimator.n_features_in_))
        columns.require_fitting(model.machine.layers[0], rows, name)
        if name == "X_test":
            parts["test rows"] = rows
            continue
        learned, held = held_out(estimator, rows.n_rows) if estimator._n_rows else (np.arange(rows.n_rows), None)
        if held is None:
            parts["rows learned from"] = rows
        else:
            parts["rows learned from"] = read(rows.take(learned), dtype=estimator.dtype)
            parts["rows held out"] = read(rows.take(held), dtype=estimator.dtype)
    return parts


def some_values(model: Encoded, rows: Rows) -> np.ndarray:
    """Some rows, by chance, as values of the visible layer."""
    chosen = np.random.default_rng(0).permutation(rows.n_rows)[:MOST_ROWS]
    values = np.asarray(model.encoding.values(jnp.asarray(rows.take(chosen))))
    return values.reshape(len(values), -1)


def drawn(model: Encoded) -> tuple[np.ndarray, Traces, Mapping[str, Mixing]]:
    """Draws of chains, ``(chain · draw, values)``, the course of their free energies, and how well they mixed."""
    machine, width = model.machine, sum(unit.bias.size for unit in model.machine.layers)
    n_chains = int(np.clip(MOST_DRAWN // (width * N_DRAWS), 16, N_CHAINS))
    start, key = jax.random.split(sampling.key(0))
    chains = encoded.grown(model, start, n_chains, jnp.asarray(GROWTH))
    draws = sampling.run(key, machine, chains, sampling.Keep(), N_DRAWS, thin=THIN)[1]
    numbers = observed(machine, draws)
    energies = np.asarray(next(iter(numbers.values())), float)
    found = {name: mixing(values) for name, values in numbers.items()}
    return np.asarray(draws[0]).reshape(n_chains * N_DRAWS, -1), Traces(energies, THIN), found


def weights(model: Encoded) -> np.ndarray:
    """Hidden × values, in the gauge in which those of the states of a column sum to zero."""
    matrix = np.asarray(zero_sum(model.machine).couplings[0].matrix())
    if model.machine.joins[0] == (1, 0):
        matrix = np.moveaxis(matrix, 0, -1)
    return matrix.reshape(-1, matrix.shape[-1]).T


def _variances(model: Encoded, flat: np.ndarray) -> np.ndarray:
    """⟨var(h | v)⟩ over some rows."""
    values = jnp.asarray(flat[:1000]).reshape(-1, *model.machine.layers[0].shape)
    hidden = model.machine.layers[1]
    return np.asarray(jnp.mean(hidden.variance(model.machine.inputs_from_others((values, None), 1)), axis=0))


def value_names(estimator: Any) -> tuple[list[str], np.ndarray, bool]:
    """The names of the values of the visible layer, the columns they are of, and whether the data had names."""
    given = getattr(estimator, "feature_names_in_", None)
    n = int(estimator.n_features_in_)
    plain = [f"column {i}" for i in range(n)] if given is None else [str(name) for name in given]
    unit = estimator._model.machine.layers[0]
    if not unit.one_hot:
        return plain, np.arange(n), given is not None
    k = unit.shape[1]
    return [f"{name} = {state}" for name in plain for state in range(k)], np.repeat(np.arange(n), k), given is not None


class _Mixed(eqx.Module):
    """A mixture behind an encoding."""

    model: Encoded
    mixture: Mixture


@eqx.filter_jit
def _mixed(mixed: _Mixed, rows: Float[Array, "batch columns"]) -> Float[Array, " batch"]:
    return mixed.mixture.of(mixed.model.encoding.values(rows))


def _scores(estimator: Any, parts: dict[str, Rows]) -> tuple[list[Scores], list[str]]:
    """The log-likelihood of every row of every part, and of plainer models fitted to the same rows."""
    if not parts:
        return [], []
    model: Encoded = estimator._model
    notes, mixture = [], None
    if "rows learned from" in parts and estimator._n_rows:
        mixture, note = _mixture(model, parts)
        notes.append(note)
    scores = []
    for part, rows in parts.items():
        raw = rows.take(np.arange(rows.n_rows))
        minus_energy = model.energy_shift - over_rows(encoded.free_energy, model, rows).astype(float)
        model_scores = minus_energy - estimator.log_partition_.estimate
        others = {}
        alone = independent(estimator, raw)
        if alone is not None:
            others["independent columns"] = alone
        if mixture is not None:
            found = over_rows(_mixed, _Mixed(model, mixture), rows).astype(float) - model.log_volume
            others[f"a mixture of {len(mixture.shares)}"] = found
        scores.append(Scores(f"{rows.n_rows:,} {part}", model_scores, others))
    return scores, notes


def _mixture(model: Encoded, parts: dict[str, Rows]) -> tuple[Mixture, str]:
    """The mixture that makes rows held out, or a tenth of those learned from, likeliest; and how it was found."""
    unit, rows = model.machine.layers[0], parts["rows learned from"]
    held = parts.get("rows held out")
    n, how = rows.n_rows, "rows held out"
    if held is None:
        n, how = max(1, round(0.9 * rows.n_rows)), "a tenth of the rows learned from, kept aside"
    most = min(n, max(1, 2**23 // unit.bias.size))
    values = model.encoding.values(jnp.asarray(rows.take(np.arange(most))))
    others = (
        rows.take(np.arange(n, rows.n_rows))[:2000] if held is None else held.take(np.arange(min(held.n_rows, 2000)))
    )
    best = Mixture.best(
        unit, values, model.encoding.values(jnp.asarray(others if len(others) else rows.take(np.zeros(1, int))))
    )
    return best, (
        f"The mixture is one of {len(best.shares)} layers of independent columns, fitted to "
        f"{'the same' if most == rows.n_rows else f'{most:,} of these'} rows; its size, out of "
        f"{', '.join(map(str, SIZES))}, was chosen by {how}. Independent columns have the means"
        f"{' and variances' if isinstance(model.encoding, Standardised) else ''} of the rows learned from."
    )


def _log_z(estimator: Any, parts: dict[str, Rows]) -> Interval:
    """The one that the model has; if it has none yet, chains start from rows, too, on their way back."""
    if "_log_partition" not in estimator.__dict__:
        rows = next(iter(parts.values()))
        few = rows.take(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, 1000)).astype(int))
        estimator._log_partition = estimator._model.log_partition(sampling.key(0), jnp.asarray(few))
    log_z: Interval = estimator.log_partition_
    return log_z


def _n_hidden(model: Encoded) -> int:
    return int(model.machine.layers[1].n)


def _facts(estimator: Any, parts: dict[str, Rows]) -> dict[str, str]:
    model: Encoded = estimator._model
    visible, hidden = model.machine.layers
    n_numbers = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model.machine, eqx.is_inexact_array)))
    states = f" of {visible.shape[1]} states" if visible.one_hot else ""
    facts = {
        "Model": f"restricted Boltzmann machine: {visible.n:,} {type(visible).__name__} columns{states}, {hidden.n:,} "
        f"{type(hidden).__name__} hidden units; {n_numbers:,} parameters"
    }
    told = ", ".join(f"{rows.n_rows:,} {part}" for part, rows in parts.items())
    facts["Data"] = told or (f"rows of a total weight of {estimator._n_rows:,.0f}, not given to this report")
    if not estimator._n_rows:
        facts["Data"] = told or "none: its parameters were given"
        return facts
    if isinstance(model.encoding, Standardised):
        facts["Scale"] = "in all pictures, columns are in standard deviations from their means"
    facts["Learning"] = (
        f"{estimator.n_updates_:,} updates by method {estimator.method!r}, optimizer {estimator.optimizer!r}"
    )
    history = estimator.history_
    held = history.get("validation_log_likelihood")
    if held:
        best = history["step"][int(np.nanargmax(held))]
        facts["Kept"] = f"the model after update {best:,}, when rows held out were likeliest"
    return facts


def _recipe(estimator: Any, parts: dict[str, Rows], command: str | None) -> list[tuple[str, str]]:
    """Code, command, versions and the digest of the data."""
    recipe = [] if command is None else [("The command", command)]
    if estimator._n_rows:
        recipe.append(("In Python, with X the table learned from", _code(estimator)))
    packages = {name: version(name) for name in ("harmonium", "jax", "numpy", "scikit-learn")}
    lines = [f"{name} {number}" for name, number in packages.items()]
    lines += [f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"]
    lines += [f"{part}: {r.n_rows:,} × {r.n_columns:,}, digest {fingerprint(r, None)}" for part, r in parts.items()]
    where = "With these versions, and these rows. Results repeat bit for bit on machines of one kind."
    return [*recipe, (where, "\n".join(lines))]


def _code(estimator: Any) -> str:
    """The call that makes an estimator with these parameters."""
    defaults = type(estimator)().get_params(deep=False)
    aside = ("checkpoint", "resume", "verbose", "log")
    own = {k: v for k, v in estimator.get_params(deep=False).items() if k not in aside and repr(v) != repr(defaults[k])}
    given = ",\n".join(f"    {name}={value!r}" for name, value in own.items())
    name = type(estimator).__name__
    call = f"{name}(\n{given},\n)" if own else f"{name}()"
    return f"from harmonium import {name}\n\nmodel = {call}.fit(X)"
