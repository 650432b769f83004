"""Fits that are killed at random moments and go on, and whether they end as if nothing had happened.

    python tests/estimators/killed.py FOLDER N_RUNS SEED

A program of its own: it imports everything once and forks before JAX starts anything, so that a process costs no more
than its work; programs compiled once are found again in a cache. A moment in training is a time at which the process
gets SIGKILL from outside; a moment in saving is a line of ``artifact.write_bytes`` at which it gets it from itself. A
run is killed once to three times and then goes on to its end. Prints one line of JSON for each.
"""

import json
import os
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from harmonium import artifact
from harmonium.estimators import RBM, keeping
from harmonium.training import checkpoint, loop

SAVING = artifact.write_bytes.__code__
N_LINES = 23  # that it comes to in a saving
X = np.random.default_rng(0).integers(0, 2, (40, 5)).astype(float)
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2.0, 40)


def fit(folder: Path) -> None:
    """All that a run can have: Adam, averages, chains, short batches of shuffled and weighted rows, validation."""
    keeping.Keeper.__init__.__defaults__ = (0.0,)  # saved after every chunk
    loop.CHUNK_WORK = 15 * 23 * 4  # of at most four steps
    settings = {"n_updates": 60, "batch_size": 15, "n_chains": 7, "optimizer": "adam", "patience": None}
    model = RBM(3, **settings, validation_fraction=0.2, random_state=0, checkpoint=folder, resume=True)
    model.fit(X, sample_weight=WEIGHTS)


def kill_in_saving(at_save: int, at_line: int) -> Callable[[Path], None]:
    """A fit that kills itself when the ``at_save``-th saving comes to its ``at_line``-th line."""
    saves, lines, save = 0, 0, checkpoint.save

    def trace(frame, event, _):
        nonlocal lines
        if frame.f_code is not SAVING:
            return None
        if event == "line":
            lines += 1
            if lines == at_line:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    def traced(*args):
        nonlocal saves
        saves += 1
        if saves == at_save:
            sys.settrace(trace)
        save(*args)
        sys.settrace(None)

    def fit_until_then(folder: Path) -> None:
        checkpoint.save = traced
        fit(folder)

    return fit_until_then


def run(work: Callable[[Path], None], folder: Path, seconds: float | None = None) -> bool:
    """Do the work in a process of its own, and kill it after some seconds, if it lasts so long; whether it ended."""
    ended, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ended)
        try:
            work(folder)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(held)
    if not select.select([ended], [], [], seconds)[0]:  # readable when the process is gone
        os.kill(child, signal.SIGKILL)
    os.close(ended)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code == 0


def main(place: Path, n_runs: int, seed: int) -> None:
    jax.config.update("jax_compilation_cache_dir", str(place / "cache"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    whole, chance = place / "whole", random.Random(seed)
    assert run(fit, place / "first")  # fills the cache
    begun = time.perf_counter()
    assert run(fit, whole)
    lasts = time.perf_counter() - begun
    wanted = checkpoint.path_in(whole).read_bytes()
    for i in range(n_runs):
        folder, kills, ended = place / f"run{i}", [], False
        n_kills = chance.randint(1, 3)
        while len(kills) < n_kills and not (ended and kills):
            if ended:  # before it was killed
                shutil.rmtree(folder)
            if (i + len(kills)) % 2:
                at = {"save": chance.randint(1, 15), "line": chance.randint(1, N_LINES)}
                ended = run(kill_in_saving(*at.values()), folder)
            else:
                at = {"seconds": chance.uniform(0, lasts)}
                ended = run(fit, folder, at["seconds"])
            if ended:
                continue
            there = checkpoint.path_in(folder)
            step = artifact.read(there)[1]["checkpoint"]["history"][-1:] if there.exists() else None
            kills.append(at | {"kept": step and step[0]["step"]})
        assert run(fit, folder)
        same = checkpoint.path_in(folder).read_bytes() == wanted
        print(json.dumps({"kills": kills, "same": same}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
