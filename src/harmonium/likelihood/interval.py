"""What is known of log Z, or of a log-likelihood: an interval, how it was found, and whether to believe it."""

from math import inf
from typing import NamedTuple

AGREE = "agree"
NOT_MIXED = "not mixed: more steps"
DO_NOT_TRUST = "do not trust"
VERDICTS = (AGREE, NOT_MIXED, DO_NOT_TRUST)
"""What can be said, from good to bad."""


class Interval(NamedTuple):
    """A number in nats: three standard errors to either side of the estimate where chains agree, else wider.

    ``ess`` is the effective number of independent chains behind it; ``verdict`` one of ``VERDICTS``, with its
    ``reason``; ``method`` is ``exact`` or ``annealed``.
    """

    lower: float
    upper: float
    estimate: float
    standard_error: float
    ess: float
    verdict: str
    method: str
    reason: str = ""

    @classmethod
    def exact(cls, value: float) -> "Interval":
        """A number that is known."""
        return cls(value, value, value, 0.0, inf, AGREE, "exact")

    @property
    def width(self) -> float:
        """From the lower end to the upper one."""
        return self.upper - self.lower

    def shifted(self, by: float) -> "Interval":
        """The same with ``by`` added."""
        return self._replace(lower=self.lower + by, upper=self.upper + by, estimate=self.estimate + by)

    def taken_from(self, value: float) -> "Interval":
        """``value`` less this number: with log Z, and minus the mean free energy of rows, their log-likelihood."""
        return self._replace(lower=value - self.upper, upper=value - self.lower, estimate=value - self.estimate)
