"""The training loop: batches → objective → optimiser → state, in compiled chunks of steps."""

from harmonium.training.course import Best, Course, Watch, follow
from harmonium.training.journal import Journal
from harmonium.training.loop import Run, advance
from harmonium.training.optimisers import Optimiser, optimiser
from harmonium.training.schedules import Schedule
from harmonium.training.state import State

__all__ = [
    "Best",
    "Course",
    "Journal",
    "Optimiser",
    "Run",
    "Schedule",
    "State",
    "Watch",
    "advance",
    "follow",
    "optimiser",
]
