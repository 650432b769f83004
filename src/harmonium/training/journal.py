"""What monitors found, written down outside while a run goes: a line of JSON a look, or events for TensorBoard."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harmonium.errors import ArgumentError
from harmonium.training.course import Course, Row

ENDING = ".jsonl"


class Journal:
    """Writes each row of a course's history once; nothing, if there is no path.

    A name that ends in ``.jsonl`` is a file of lines; any other a folder of TensorBoard events. A run that goes on from
    a checkpoint leaves the same file of lines as one that never stopped.
    """

    def __init__(self, path: Any, begun: Course, *, resumed: bool) -> None:
        self.written = 0
        self.write_row: Callable[[Row], None] | None = None
        self.end: Callable[[], None] = lambda: None
        if path is None:
            return
        path = Path(path)
        if path.exists() and not resumed:
            raise ArgumentError("log", f"{path}, which exists", "a name that is free, or resume=True to go on with it")
        (self._lines if path.suffix == ENDING else self._events)(path, begun)

    def write(self, course: Course) -> None:
        """Write the rows that are new."""
        for row in course.history[self.written :] if self.write_row else ():
            assert self.write_row is not None
            self.write_row(row)
        self.written = len(course.history)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _lines(self, path: Path, _begun: Course) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8")

        def write(row: Row) -> None:
            known = {name: value if math.isfinite(value) else None for name, value in row.items()}  # JSON has no NaN
            file.write(json.dumps(known) + "\n")
            file.flush()

        self.write_row, self.end = write, file.close

    def _events(self, path: Path, begun: Course) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            wanted = f"pip install 'harmonium[tensorboard]', or a name that ends in {ENDING} for lines of JSON"
            raise ArgumentError("log", "no library that writes TensorBoard events", wanted) from error
        writer = SummaryWriter(str(path), purge_step=int(begun.state.step) + 1)  # what a run made anew supersedes
        self.written = len(begun.history)

        def write(row: Row) -> None:
            for name, value in row.items():
                if name != "step":
                    writer.add_scalar(name, value, int(row["step"]))

        self.write_row, self.end = write, writer.close
