"""A run kept on disk while it goes: begun or resumed, saved every so often and at its end."""

import time
from hashlib import sha256
from typing import Any

import numpy as np

from harmonium.artifact import ArtifactError, read
from harmonium.data import Rows
from harmonium.errors import ArgumentError
from harmonium.training import Course, checkpoint

INTERVAL = 30.0
"""Seconds between two checkpoints."""

ASIDE = ("checkpoint", "resume", "verbose", "log", "random_state")
"""Parameters that another sitting of the same run may change."""


class Keeper:
    """The checkpoints of one run; of none, if ``folder`` is None."""

    def __init__(self, folder: Any, resume: bool, about: dict[str, Any], seed: int, interval: float = INTERVAL) -> None:
        self.folder, self.interval = folder, interval
        self.saved = time.monotonic()
        self.about = {**about, "seed": seed}
        self.resumed = False
        if folder is None or not checkpoint.path_in(folder).exists():
            return
        if not resume:
            raise ArgumentError(
                "checkpoint",
                f"{checkpoint.path_in(folder)}, of an earlier run",
                "resume=True to go on with it, or another folder to begin anew; or remove the file",
            )
        self.resumed = True
        _, description = read(checkpoint.path_in(folder))
        if "checkpoint" not in description:
            raise ArtifactError(f"{checkpoint.path_in(folder)}: found a model; wanted the checkpoint of a run.")
        # The seed is the run's, also where the parameters leave it to chance.
        self.about["seed"] = description["checkpoint"]["about"]["seed"]

    @property
    def seed(self) -> int:
        """Where the run's chance begins."""
        return int(self.about["seed"])

    def begin(self, start: Course) -> Course:
        """The start, or what the checkpoint holds."""
        return checkpoint.load(self.folder, start, self.about) if self.resumed else start

    def keep(self, course: Course) -> None:
        """Save the course, if it is time."""
        if self.folder is not None and time.monotonic() - self.saved >= self.interval:
            self.end(course)

    def end(self, course: Course) -> None:
        """Save the course."""
        if self.folder is not None:
            checkpoint.save(self.folder, course, self.about)
            self.saved = time.monotonic()


def about(estimator: str, parameters: dict[str, Any], rows: Rows, weights: np.ndarray | None) -> dict[str, Any]:
    """What two sittings of one run have in common."""
    shared = {name: value for name, value in parameters.items() if name not in ASIDE}
    shared["devices"] = shared["devices"] is not None  # however many: the bits are the same
    said = {
        name: value if isinstance(value, str | int | float | None) else repr(value) for name, value in shared.items()
    }
    return {"estimator": estimator, **said, "data": fingerprint(rows, weights)}


def fingerprint(rows: Rows, weights: np.ndarray | None) -> str:
    """A digest of a table: its size, the moments of its columns, 64 of its rows, and the weights."""
    digest = sha256(f"{rows.n_rows} {rows.n_columns} {rows.dtype}".encode())
    for column in rows.summary():
        digest.update(np.ascontiguousarray(column).tobytes())
    some = np.linspace(0, rows.n_rows - 1, min(64, rows.n_rows)).astype(int)
    digest.update(np.ascontiguousarray(rows.take(some)).tobytes())
    if weights is not None:
        digest.update(np.ascontiguousarray(weights).tobytes())
    return digest.hexdigest()[:32]
