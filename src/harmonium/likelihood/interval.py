"""What is known of log Z, or of a log-likelihood: an interval, how it was found, and whether to believe it."""

from collections.abc import Mapping
from math import inf, isfinite, nan
from typing import Any, NamedTuple

AGREE = "agree"
NOT_MIXED = "not mixed: more steps"
DO_NOT_TRUST = "do not trust"
VERDICTS = (AGREE, NOT_MIXED, DO_NOT_TRUST)
"""What can be said, from good to bad."""

UNWRITTEN: dict[str, Any] = {"lower": -inf, "upper": inf, "estimate": nan, "standard_error": inf, "ess": inf}
"""What a field that is None in a file stands for: JSON has finite numbers only."""


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

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "Interval":
        """The one that ``written`` wrote."""
        fields: dict[str, Any] = {name: UNWRITTEN[name] if value is None else value for name, value in told.items()}
        return cls(**fields)

    def written(self) -> dict[str, Any]:
        """The fields by name, for JSON."""
        return {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in self._asdict().items()}

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
