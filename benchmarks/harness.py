"""Races: contenders in turns, over and over, so that whatever else the machine does falls on all of them.

A round gives each contender one slice of work, in an order that changes from round to round. What is reported is the
median, over rounds, of the ratio of two contenders in the same round: a slow minute slows both. The ratio of the two
least times stands beside it. On a quiet machine they agree.

On a busy one neither is fair: threads of BLAS and OpenMP wait for each other by spinning, and lose far more by a
processor taken away than XLA's do. So the share of the processors that went to others is measured, and where it is
above ``QUIET`` a row is marked and says nothing about what holds. With one thread there is no such waiting: then the
clock is the processor time of the process and of its children, which others hardly change.
"""

import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

THREADS = 2
"""Of every contender: of BLAS, of PyTorch, and of XLA."""

QUIET = 0.05
"""The largest share of the processors that others may take."""

PAUSE = 0.02
"""Seconds between two slices: threads of BLAS and OpenMP that wait by spinning would take the next one's processor."""

SLICE = 0.1
"""Seconds that a slice of work should take."""


class Contender(NamedTuple):
    """``work`` does ``units`` of work (steps, sweeps, rows) and returns when they are done."""

    name: str
    work: Callable[[], object]
    units: float


class Row(NamedTuple):
    """One line of the table: times of one unit of work in rounds, ours and another's, and the ratio that is wanted."""

    what: str
    ours: str
    other: str
    our_times: np.ndarray
    other_times: np.ndarray
    wanted: float | None
    others: float

    @property
    def ratios(self) -> np.ndarray:
        """How many times faster than the other we are, round by round."""
        return self.other_times / self.our_times

    def cells(self) -> list[str]:
        """What the table says."""
        low, middle, high = np.percentile(self.ratios, [25, 50, 75])
        least = self.other_times.min() / self.our_times.min()
        verdict = ""
        if self.wanted is not None:
            busy = THREADS > 1 and self.others > QUIET
            verdict = f"≥ {self.wanted:.3g} {'?' if busy else '✓' if middle >= self.wanted else '✗'}"
        times = [duration(float(np.median(t))) for t in (self.our_times, self.other_times)]
        return [
            self.what,
            self.ours,
            self.other,
            *times,
            f"**{middle:.2f}** ({low:.2f}–{high:.2f})",
            f"{least:.2f}",
            verdict,
            f"{self.others:.0%}",
        ]


HEAD = ["what", "ours", "against", "ours takes", "it takes", "ratio", "of least times", "wanted", "others"]


def duration(seconds: float) -> str:
    """A time with its unit.

    >>> duration(0.00123)
    '1.23 ms'
    """
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
    unit, size = next((one for one in units if seconds >= one[1]), units[-1])
    return f"{seconds / size:.3g} {unit}"


class Race(NamedTuple):
    """Seconds of one unit of work of each contender in each round, and the share of the processors others took."""

    times: dict[str, np.ndarray]
    others: float

    def rows(self, what: str, ours: str, wanted: Mapping[str, float | None]) -> list[Row]:
        """Ours against each contender in ``wanted``, with the ratio that is wanted."""
        times = self.times
        return [
            Row(what, ours, other, times[ours], times[other], least, self.others) for other, least in wanted.items()
        ]


def sized(name: str, steps: Callable[[int], object], slice_s: float = SLICE) -> Contender:
    """A contender from a function that does n steps, with n such that a slice takes about ``slice_s`` seconds."""
    steps(1)
    n, taken = 1, seconds(lambda: steps(1))
    while taken < slice_s / 4 and n < 2**20:
        n *= 4
        taken = seconds(lambda n=n: steps(n))
    n = max(1, round(n * slice_s / taken))
    return Contender(name, lambda: steps(n), n)


def race(contenders: Sequence[Contender], rounds: int) -> Race:
    """Let the contenders run in turns."""
    times = {contender.name: np.empty(rounds) for contender in contenders}
    for contender in contenders:
        contender.work()  # compiled, and its memory touched
    chance, begun = np.random.default_rng(0), _Processors.now()
    for i in range(rounds):
        for j in chance.permutation(len(contenders)):
            name, work, units = contenders[j]
            time.sleep(PAUSE)
            times[name][i] = seconds(work) / units
    return Race(times, _Processors.now().others_since(begun))


def fastest(contenders: Sequence[Contender], rounds: int = 5) -> Contender:
    """The one with the least time: of several ways to do the same, the one to be measured against."""
    times = race(contenders, rounds).times
    return min(contenders, key=lambda contender: times[contender.name].min())


def seconds(work: Callable[[], object]) -> float:
    """What the work takes: on a clock, or of one processor if there is one thread only."""
    clock = time.perf_counter if THREADS > 1 else _processor_time
    begun = clock()
    work()
    return clock() - begun


def environment() -> dict[str, str]:
    """That of a process of its own, with as many threads."""
    return os.environ | {name: str(THREADS) for name in ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def _processor_time() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class _Processors(NamedTuple):
    """Seconds since some time ago: that passed, that all processors were busy, and that they were so for us."""

    passed: float
    busy: float
    ours: float

    @classmethod
    def now(cls) -> "_Processors":
        user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split(maxsplit=9)[1:9])
        busy = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
        return cls(time.monotonic(), busy, sum(os.times()[:4]))

    def others_since(self, begun: "_Processors") -> float:
        passed, busy, ours = (now - then for now, then in zip(self, begun, strict=True))
        return max(0.0, (busy - ours) / (passed * (os.cpu_count() or 1)))


def table(lines: Sequence[Row]) -> str:
    """Rows as Markdown."""
    return grid(HEAD, [line.cells() for line in lines], left=3)


def grid(head: Sequence[str], lines: Sequence[Sequence[str]], left: int) -> str:
    """A table as Markdown, its first columns aligned to the left and all others to the right."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))


def confine(threads: int) -> None:
    """Give every contender so many threads; to be called before JAX starts, which looks once."""
    global THREADS
    THREADS = threads
    os.environ["NPROC"] = str(THREADS)  # what XLA reads
    threadpool_limits(THREADS)
