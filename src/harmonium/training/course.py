"""A run from its start to its end: the state, what was written down on the way, and the best model so far."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harmonium.data import Batches
from harmonium.training.loop import Run, chunk_size, chunks
from harmonium.training.state import State

Row = dict[str, int | float]
"""What was written down at one step: ``step``, ``epoch``, and whatever the monitor found."""


class Best(NamedTuple):
    """The model with the highest score so far, and the step that led to it."""

    model: Any
    score: float
    step: int


class Course(NamedTuple):
    """How far a run has come; ``stages`` are the models it went through that are kept."""

    state: State[Any]
    history: tuple[Row, ...] = ()
    best: Best | None = None
    stopped: bool = False
    stages: tuple[Any, ...] = ()

    @property
    def result(self) -> Any:
        """The model to use: the best where scores are kept, else the latest."""
        return self.state.result if self.best is None else self.best.model


class Watch(NamedTuple):
    """Who looks on: every ``every`` steps ``monitor`` looks at the state, and what it finds goes into the history.

    With a ``criterion``, one of the monitor's names, the model for which it is highest is kept, and the run stops when
    ``patience`` looks in a row found none higher (never, if it is None). The model at the first end of a chunk from
    each step of ``stages`` on, in order, is kept.
    """

    every: int
    monitor: Callable[[State[Any]], Row]
    criterion: str | None = None
    patience: int | None = None
    stages: tuple[int, ...] = ()


def follow(
    run: Run[Any], course: Course, batches: Batches, until: int, watch: Watch, *, brief: bool = False
) -> Iterator[Course]:
    """The course of a run up to step ``until``, after each chunk of steps; it goes on from ``course``.

    The chunks of a ``brief`` course, such as a piece of a stream, have room for no more steps than there are, up to a
    power of two: filling large ones would take longer than the steps.
    """
    if course.stopped:
        return
    columns = batches.rows.n_columns
    size = chunk_size(batches.batch_size, columns, course.state.model)
    if brief:
        size = min(size, 2 ** (until - int(course.state.step) - 1).bit_length())
    for state in chunks(run, course.state, batches, until, size, watch.every):
        course = course._replace(state=state)
        step = int(state.step)
        if len(course.stages) < sum(stage <= step for stage in watch.stages):
            course = course._replace(stages=(*course.stages, state.result))
        if step % watch.every == 0 or step == until:
            course = _looked(course, watch, step, step / batches.steps_per_epoch)
        yield course
        if course.stopped:
            return


def _looked(course: Course, watch: Watch, step: int, epoch: float) -> Course:
    found = {"step": step, "epoch": epoch, **watch.monitor(course.state)}
    course = course._replace(history=(*course.history, found))
    if watch.criterion is None:
        return course
    score, best = found[watch.criterion], course.best
    if score > (-math.inf if best is None else best.score):  # what is NaN is never the best
        return course._replace(best=Best(course.state.result, score, step))
    since = sum(row["step"] > (0 if best is None else best.step) for row in course.history)
    return course._replace(stopped=watch.patience is not None and since >= watch.patience)
