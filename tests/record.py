"""Run the slow proofs and the planted bugs, and write down what was shown: docs/results/proofs.md.

    python tests/record.py

What a proof shows, with which power and how often a false alarm, is what its docstring says. Nothing is written if a
proof fails or a bug is missed.
"""

import ast
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from planted_bugs import ROOT, Planted, plant

PAGE = ROOT / "docs" / "results" / "proofs.md"
PYTEST = ("-m", "pytest", "-n", "2", "--dist", "worksteal", "-m", "prove")


class Proof(NamedTuple):
    """A test function: its file, its cases, and the seconds they took together."""

    file: str
    name: str
    cases: int
    seconds: float


def proofs(report: Path) -> list[Proof]:
    """The test functions in a JUnit report, in the order of their files; cases that were skipped do not count."""
    taken: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            file = case.attrib["classname"].replace(".", "/") + ".py"
            taken[file, case.attrib["name"].split("[")[0]].append(float(case.attrib["time"]))
    return [Proof(*place, len(times), sum(times)) for place, times in sorted(taken.items())]


def said(file: str) -> dict[str, str]:
    """The docstrings of a file, in one line each: of its functions by name, its own under the empty one."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = {"": ast.get_docstring(tree)} | {
        node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    return {name: " ".join((text or "").split()) for name, text in found.items()}


def page(shown: list[Proof], bugs: list[Planted], minutes: float) -> str:
    """The page: what was run and where, the proofs file by file, the bugs."""
    lines = [
        "# Proofs",
        "",
        "Written by `make prove`; what each test shows, its power and its false alarms are what its docstring says.",
        "",
        f"- commit {_commit()}, {time.strftime('%Y-%m-%d', time.gmtime())}",
        f"- Python {sys.version.split()[0]}, JAX {version('jax')}, {os.cpu_count()} cores",
        f"- {sum(proof.cases for proof in shown)} cases of {len(shown)} proofs passed, and {len(bugs) - 1} of "
        f"{len(bugs) - 1} planted bugs were caught, in {minutes:.0f} minutes",
    ]
    for file in dict.fromkeys(proof.file for proof in shown):
        docs = said(file)
        lines += ["", f"## {file}", "", docs[""], "", "| proof | cases | seconds |", "|---|---:|---:|"]
        for proof in (proof for proof in shown if proof.file == file):
            words = proof.name.removeprefix("test_").replace("_", " ")
            text = f"**{words}** {docs.get(proof.name, '')}".strip().replace("|", "\\|")
            lines.append(f"| {text} | {proof.cases} | {proof.seconds:.0f} |")
    lines += ["", "## Planted bugs", "", "| bug | caught by | seconds |", "|---|---|---:|"]
    lines += [f"| {bug.name} | `{bug.said.split('::')[-1]}` | {bug.seconds:.0f} |" for bug in bugs[1:]]
    return "\n".join(lines) + "\n"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> int:
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        failed = subprocess.run([sys.executable, *PYTEST, f"--junit-xml={report}"], cwd=ROOT, check=False).returncode
        if failed:
            return failed
        shown = proofs(report)
    bugs = plant([])
    if not all(bug.caught for bug in bugs):
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(shown, bugs, (time.perf_counter() - begun) / 60), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
