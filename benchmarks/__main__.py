"""`python -m benchmarks [names] [--quick] [--write]`: the table, on the screen and in docs/results/speed.md."""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks import harness

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "results" / "speed.md"
USUAL = ["step", "fit", "sampling", "likelihood", "memory"]
LONG = ["target"]  # tens of minutes: measured only when it is named


def page(parts: Sequence[str], command: str, commit: str, loads: Sequence[str]) -> str:
    """The tables as Markdown, with all that is needed to make them again."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("jax", "numpy", "scikit-learn", "torch", "rbms"))
    return "\n".join(
        [
            "# Speed",
            "",
            "Ratios of times taken in turns in one run: above 1, Harmonium is faster. The ratio is the median over the",
            "rounds, with quartiles; beside it is the ratio of the least times of each. Where the two differ much,",
            "the machine was busy. *Products* are the matrix products that the work cannot do without, alone:",
            "against them, 1 is the most there is.",
            "",
            *parts,
            f"- Command: `{command}`",
            f"- Commit: {commit}",
            f"- Machine: {_processor()}; {harness.THREADS} threads for each of XLA, BLAS and PyTorch",
            f"- Load average, before and after: {' and '.join(loads)}",
            f"- Versions: Python {platform.python_version()}, {packages}",
            "",
        ]
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks", "pyproject.toml")
    return git("rev-parse", "HEAD") + (", with changes that are not committed" if changed else "")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(USUAL)} (all of them by default), {', '.join(LONG)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller tables: for a look only")
    parser.add_argument("--threads", type=int, default=2, help="of every contender; 1 for a busy machine")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.relative_to(ROOT)}")
    chosen = parser.parse_args(arguments)
    if wrong := set(chosen.names) - {*USUAL, *LONG}:
        parser.error(f"found {', '.join(sorted(wrong))}; wanted names of {', '.join(USUAL + LONG)}")
    harness.confine(chosen.threads)
    commit, loads, parts = _commit(), [_load()], []
    for name in chosen.names or USUAL:
        module = import_module(f"benchmarks.{name}")
        heading = f"## {module.__doc__.splitlines()[0]}"
        parts += [heading, "", module.measure(chosen.quick), ""]
        print("\n".join(parts[-4:]), flush=True)
    command = " ".join(["python -m benchmarks", *arguments])
    text = page(parts, command, commit, [*loads, _load()])
    print(text.rpartition("|\n")[2])
    if chosen.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
