"""How good the defaults are: `harmonium.RBM()` with nothing set, on data that the field reports numbers for.

    python -m benchmarks.quality [--sets nltcs mushrooms …] [--seeds 3] [--to docs/results/quality.md]

For each set: fitted on the training rows, scored on the test rows. The validation rows are not touched, so that nothing
here can be tuned by them. The table is written anew after each set: a run that is stopped leaves what it has.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import harmonium as hm
from harmonium import datasets

ROOT = Path(__file__).parents[1]
HEAD = "| set | columns | independent units | RBM | standard error of log Z | seconds to fit | updates |"


class Fit(NamedTuple):
    """One fit: mean log-likelihood of the test rows in nats, standard error of log Z, seconds, number of updates."""

    score: float
    error: float
    seconds: float
    updates: int | None


def independent(splits: datasets.Splits) -> float:
    """The mean log-likelihood of the test rows if no column knows another, with Laplace's smoothing."""
    p = (splits.train.sum(axis=0) + 1) / (len(splits.train) + 2)
    return float(np.mean(splits.test @ np.log(p) + (1 - splits.test) @ np.log1p(-p)))


def fit(splits: datasets.Splits, seed: int, machine: Callable[..., Any]) -> Fit:
    """Fit with nothing set but the seed; the seconds include compiling, as a user's do."""
    start = time.perf_counter()
    model = machine(random_state=seed).fit(splits.train)
    seconds = time.perf_counter() - start
    score = float(model.score(splits.test))
    return Fit(score, float(model.log_partition_.standard_error), seconds, getattr(model, "n_updates_", None))


def line(name: str, splits: datasets.Splits, fits: Sequence[Fit]) -> str:
    """A row of the table; what the seeds differ in is mean ± standard deviation, or least to greatest."""
    scores = np.array([one.score for one in fits])
    deviation = f" ± {scores.std(ddof=1):.3f}" if len(fits) > 1 else ""
    cells = [
        name,
        f"{splits.train.shape[1]}",
        f"{independent(splits):.3f}",
        f"{scores.mean():.3f}{deviation}",
        _range([one.error for one in fits], ".3f"),
        _range([one.seconds for one in fits], ".1f"),
        _range([one.updates for one in fits if one.updates is not None], ",d"),
    ]
    return f"| {' | '.join(cells)} |"


def _range(values: Sequence[float], form: str) -> str:
    ends = [format(end, form) for end in (min(values), max(values))] if values else ["not counted"]
    return " to ".join(dict.fromkeys(ends))


def page(lines: Sequence[str], command: str, seeds: int, commit: str) -> str:
    """The table as Markdown, with all that is needed to make it again."""
    last = seeds - 1
    cores, memory = os.cpu_count(), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    where = f"{cores} cores, {memory:.0f} GiB of memory; JAX {jax.__version__} on {jax.default_backend()}"
    return "\n".join(
        [
            "# What the defaults reach",
            "",
            "`harmonium.RBM()` with nothing set but the seed, fitted on the training rows. Mean log-likelihood of the",
            f"test rows in nats: mean ± standard deviation over the seeds 0 to {last}. Standard error, seconds and",
            "updates: from the least to the greatest. Independent units: training frequencies, Laplace's smoothing.",
            "",
            HEAD,
            f"|---{'|---:' * (HEAD.count('|') - 2)}|",
            *lines,
            "",
            f"- Command: `{command}`",
            f"- Commit: {commit}",
            f"- Machine: {where}",
            "",
        ]
    )


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks", "pyproject.toml")
    return git("rev-parse", "HEAD") + (", with changes that are not committed" if changed else "")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=datasets.names(), default=datasets.names())
    parser.add_argument("--seeds", type=int, default=3, help="how many fits of each set")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "results" / "quality.md")
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 1:
        parser.error(f"--seeds: found {chosen.seeds}; wanted at least 1")
    command = f"python -m benchmarks.quality --sets {' '.join(chosen.sets)} --seeds {chosen.seeds}"
    commit = _commit()  # before the fits: what is running is what was there at the start
    chosen.to.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    print(HEAD, flush=True)
    for name in chosen.sets:
        splits = datasets.load(name)
        lines.append(line(name, splits, [fit(splits, seed, hm.RBM) for seed in range(chosen.seeds)]))
        print(lines[-1], flush=True)
        chosen.to.write_text(page(lines, command, chosen.seeds, commit))


if __name__ == "__main__":
    main(sys.argv[1:])
