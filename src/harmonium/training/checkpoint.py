"""A run on disk: its whole course in one file, from which it goes on bit for bit."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from harmonium.artifact import ArtifactError, read, write
from harmonium.training.course import Best, Course

NAME = "checkpoint.safetensors"


def path_in(folder: str | os.PathLike[str]) -> Path:
    """The file that holds the checkpoint of a folder."""
    return Path(folder) / NAME


def save(folder: str | os.PathLike[str], course: Course, about: Mapping[str, Any]) -> None:
    """Write a course, and what it is ``about``: the settings and the data that another run must share to go on."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    best = None if course.best is None else _finite({"score": course.best.score, "step": course.best.step})
    history = [_finite(row) for row in course.history]
    said = {"history": history, "stopped": course.stopped, "best": best, "about": dict(about)}
    said["stages"] = len(course.stages)
    models = (course.best and course.best.model, course.stages)
    write(path_in(folder), _arrays((course.state, *models)), {"checkpoint": said})


def load(folder: str | os.PathLike[str], start: Course, about: Mapping[str, Any]) -> Course:
    """The course in a folder, put into the shape of the ``start`` of the same run.

    Raises ``ArtifactError`` if the run there is about something else, naming what differs.
    """
    path = path_in(folder)
    arrays, description = read(path)
    if "checkpoint" not in description:
        raise ArtifactError(f"{path}: found a model; wanted the checkpoint of a run.")
    saved = description["checkpoint"]
    for name in sorted({*saved["about"], *about}):
        found, wanted = saved["about"].get(name), about.get(name)
        if found != wanted:
            raise ArtifactError(
                f"{path}: found a run with {name} = {found!r}; wanted {wanted!r}. "
                "Go on with the settings and data it was begun with, or name another folder."
            )
    model = start.state.result
    shape = (start.state, saved["best"] and model, (model,) * saved["stages"])
    state, model, stages = _filled(shape, arrays, path)
    best = saved["best"] and Best(model, **_numbers_of(saved["best"]))
    return Course(state, tuple(map(_numbers_of, saved["history"])), best, saved["stopped"], stages)


def _finite(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with NaN and infinity, which JSON does not know, as words."""
    return {name: value if math.isfinite(value) else repr(float(value)) for name, value in row.items()}


def _numbers_of(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(value) if isinstance(value, str) else value for name, value in row.items()}


def _arrays(tree: Any) -> dict[str, np.ndarray]:
    """Every array of a tree by its path; keys as the numbers they are."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): np.asarray(_numbers(leaf)) for path, leaf in leaves}


def _filled(tree: Any, arrays: Mapping[str, np.ndarray], path: Path) -> Any:
    """The tree with its arrays replaced by those of the same paths."""
    moving, fixed = eqx.partition(tree, eqx.is_array)
    wanted = {jax.tree_util.keystr(place) for place, _ in jax.tree_util.tree_leaves_with_path(moving)}
    if wanted != set(arrays):
        raise ArtifactError(f"{path}: found arrays that are not this run's: {sorted(wanted ^ set(arrays))[:3]}.")

    def fill(place: tuple[Any, ...], old: Array) -> Array:
        new, like = arrays[jax.tree_util.keystr(place)], _numbers(old)
        if new.shape != like.shape or new.dtype != like.dtype:
            raise ArtifactError(
                f"{path}: found {new.dtype} of shape {new.shape} for {jax.tree_util.keystr(place)}; "
                f"wanted {like.dtype} of shape {like.shape}."
            )
        value: Array = jnp.asarray(new)
        if jnp.issubdtype(old.dtype, jax.dtypes.prng_key):
            value = jax.random.wrap_key_data(value, impl=jax.random.key_impl(old))
        return value

    return eqx.combine(jax.tree_util.tree_map_with_path(fill, moving), fixed)


def _numbers(leaf: Array) -> Array:
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
