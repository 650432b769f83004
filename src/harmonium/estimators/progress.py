"""The progress of a run, shown to whoever waits for it: a bar in terminals and notebooks, lines in a pipe."""

import time
from datetime import timedelta
from importlib.util import find_spec
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from harmonium.training import Course

LINES = 10.0
"""Seconds between two lines in a pipe."""

SAID, UNSAID, TROUBLES = 3, ("log_partition_error",), ("dead_units", "saturated_units")
"""How many of the monitors' numbers fit on a line, the first being what matters most; and those said if not zero."""


class Display:
    """Shows how far a run has come, how fast it goes, the time left, and what the monitors found last."""

    def __init__(self, what: str, until: int, *, shown: bool, console: Console | None = None) -> None:
        self.what, self.until, self.shown = what, until, shown
        self.console = Console(stderr=True) if console is None else console
        in_notebook = self.console.is_jupyter and find_spec("ipywidgets") is not None  # rich draws bars with it
        self.live = shown and (self.console.is_terminal or in_notebook)
        self.begun = self.told = time.perf_counter()
        self.first: int | None = None
        words = TextColumn("{task.description}", table_column=Column())  # which wraps where the terminal is narrow
        self.bar = Progress(BarColumn(20), words, console=self.console, disable=not self.live)
        self.task = self.bar.add_task(what, total=until)

    def __enter__(self) -> "Display":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def show(self, course: Course) -> None:
        """Show a course."""
        if not self.shown:
            return
        step, now = int(course.state.step), time.perf_counter()
        if self.first is None:  # the first chunk's time is that of compiling
            self.first, self.begun = step, now
        rate = (step - self.first) / (now - self.begun) if now > self.begun and step > self.first else 0.0
        ended = step == self.until or course.stopped
        per_second = f"{rate:,.0f}/s" if rate else ""
        left = f"{timedelta(seconds=round((self.until - step) / rate))} left" if rate and not ended else ""
        told = ", ".join(filter(None, (f"{step}/{self.until} updates", per_second, left, _found(course))))
        if self.live:
            self.bar.update(self.task, completed=step, description=f"{self.what}: {told}")
        elif now - self.told > LINES or ended:
            self.told = now
            self.console.print(f"{self.what}: {told}", highlight=False, soft_wrap=True)


def _found(course: Course) -> str:
    row = course.history[-1] if course.history else {}
    said = [name for name in row if name not in ("step", "epoch", *UNSAID)][:SAID]
    said += [name for name in TROUBLES if row.get(name, 0) and name not in said]
    found = [f"{name.replace('_', ' ')} {row[name]:.4g}" for name in said]
    if course.stopped and course.best is not None:
        found.append(f"stopped: best after {course.best.step}")
    return ", ".join(found)
