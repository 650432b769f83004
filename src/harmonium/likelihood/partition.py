"""log Z of a machine: exact where all its configurations can be listed, else estimated."""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Array, Float, Key

from harmonium.errors import ArgumentError
from harmonium.likelihood import annealed, exact
from harmonium.machine import Machine
from harmonium.path import base_machine

MAX_STATES = 2**18
"""Configurations listed for an exact answer: about a second for a few hundred units on the other side."""


class LogPartition(NamedTuple):
    """log Z, its standard error, and how it was found: ``exact`` or ``annealed``."""

    estimate: float
    standard_error: float
    method: str

    def shifted(self, by: float) -> "LogPartition":
        """The same with ``by`` added to log Z."""
        return self._replace(estimate=self.estimate + by)


def log_partition(
    machine: Machine,
    key: Key[Array, ""],
    means: Sequence[Float[Array, "..."]] | None = None,
    *,
    n_chains: int = 200,
    n_temperatures: int = 2000,
) -> LogPartition:
    """log Z, exact if it takes no more than ``MAX_STATES`` configurations.

    Otherwise by annealed importance sampling from units that are independent, with the ``means`` of the visible layers
    in the data where they are given.
    """
    try:
        return LogPartition(float(exact.log_partition(machine, MAX_STATES)), 0.0, "exact")
    except ArgumentError:  # too many configurations, or no quadrature
        base = base_machine(machine, means)
        found = annealed.log_partition(machine, key, base=base, n_chains=n_chains, n_temperatures=n_temperatures)
        return LogPartition(float(found.estimate), float(found.standard_error), "annealed")
