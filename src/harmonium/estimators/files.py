"""A fitted estimator as one file, and back."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harmonium import artifact
from harmonium.artifact import ArtifactError, FilePath
from harmonium.data import Codes, Encoding, Plain, Standardised
from harmonium.estimators.encoded import Encoded
from harmonium.likelihood.interval import Interval

ENCODINGS: dict[str, type[Encoding]] = {t.__name__: t for t in (Plain, Codes, Standardised)}


def save(path: FilePath, estimator: Any) -> None:
    """Write a fitted estimator to a file: its parameters, its machine, and what it knows of the data."""
    model: Encoded = estimator._model
    arrays, machine = artifact.describe(model.machine)
    encoding: dict[str, Any] = {"type": type(model.encoding).__name__}
    if isinstance(model.encoding, Codes):
        encoding["n_states"] = model.encoding.n_states
    if isinstance(model.encoding, Standardised):
        arrays |= {
            "encoding.offset": np.asarray(model.encoding.offset),
            "encoding.scale": np.asarray(model.encoding.scale),
        }
    for i, stage in enumerate(estimator._stages):
        arrays |= {f"stages.{i}.{name}": array for name, array in artifact.describe(stage)[0].items()}
    if model.mean is not None:
        arrays["mean"] = np.asarray(model.mean)
    names = getattr(estimator, "feature_names_in_", None)
    log_partition = estimator.__dict__.get("_log_partition")
    description = {
        "estimator": type(estimator).__name__,
        "parameters": {k: v for k, v in estimator.get_params().items() if isinstance(v, str | int | float | None)},
        "machine": machine,
        "encoding": encoding,
        "columns": {"n": int(estimator.n_features_in_), "names": None if names is None else names.tolist()},
        "history": estimator.history_,
        "n_updates": int(estimator.n_updates_),
        "n_rows": float(estimator._n_rows),
        "n_stages": len(estimator._stages),
        "log_partition": None if log_partition is None else log_partition.written(),
    }
    artifact.write(path, arrays, description)


def load(path: FilePath) -> Any:
    """The estimator in a file that ``save`` wrote.

    Parameters that are no plain values (an optax transformation, a RandomState) are left at their defaults.

    >>> import tempfile, harmonium as hm
    >>> path = tempfile.mktemp(".safetensors")
    >>> hm.RBM.from_parameters([[0.5], [0.2]], [0.0, 0.1], [0.3]).save(path)
    >>> hm.load(path).components_.shape
    (1, 2)
    """
    from harmonium import estimators

    arrays, description = artifact.read(path)
    if "estimator" not in description:
        what = (
            "the checkpoint of a run: resume it" if "checkpoint" in description else "a machine: artifact.load_machine"
        )
        raise ArtifactError(f"{path}: found {what}; wanted a model that an estimator saved.")
    name = description["estimator"]
    if name not in estimators.SAVED:
        raise ArtifactError(f"{path}: found a model of type {name!r}; wanted one of {', '.join(estimators.SAVED)}.")
    made = getattr(estimators, name)(**description["parameters"])
    with jax.enable_x64(made.dtype == "float64"):
        machine = artifact.restore(arrays, description["machine"])
        told = description["encoding"]
        own = {k: v for k, v in told.items() if k != "type"}
        own |= {name: jnp.asarray(array) for name, array in _under("encoding.", arrays).items()}
        mean = None if "mean" not in arrays else jnp.asarray(arrays["mean"])
        model = Encoded(machine, ENCODINGS[told["type"]](**own), mean)
        stages = tuple(
            artifact.restore(_under(f"stages.{i}.", arrays), description["machine"])
            for i in range(description.get("n_stages", 0))
        )
        made._settle(model, description["history"], description["n_updates"], stages)
        made._n_rows = description.get("n_rows", 0.0)
    made.n_features_in_ = description["columns"]["n"]
    if description["columns"]["names"] is not None:
        made.feature_names_in_ = np.array(description["columns"]["names"], object)
    if description["log_partition"] is not None:
        made._log_partition = Interval.read(description["log_partition"])
    return made


def _under(prefix: str, arrays: artifact.Arrays) -> artifact.Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
