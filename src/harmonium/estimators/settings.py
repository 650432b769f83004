"""What an estimator's parameters may be, as data; and the error that says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from harmonium.errors import ArgumentError


class Whole(NamedTuple):
    """A whole number of at least ``least``."""

    least: int = 1

    def accepts(self, value: object) -> bool:
        """Whether the value is one."""
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= self.least)

    def __str__(self) -> str:
        return f"a whole number of at least {self.least}"


class Number(NamedTuple):
    """A finite number between ``least`` and ``most``; ``least`` itself only if ``closed``."""

    least: float = 0.0
    most: float = np.inf
    closed: bool = True

    def accepts(self, value: object) -> bool:
        """Whether the value is one."""
        if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
            return False
        number = float(value)
        return bool(np.isfinite(number) and (number > self.least or (self.closed and number == self.least))) and (
            number <= self.most
        )

    def __str__(self) -> str:
        above = f"of at least {self.least:g}" if self.closed else f"above {self.least:g}"
        return f"a finite number {above}" + (f" and at most {self.most:g}" if np.isfinite(self.most) else "")


class OneOf(NamedTuple):
    """One of some words, or of other values that stand for themselves."""

    values: tuple[Any, ...]

    def accepts(self, value: object) -> bool:
        """Whether the value is one."""
        return any(type(value) is type(known) and value == known for known in self.values)

    def __str__(self) -> str:
        return "one of " + ", ".join(map(repr, self.values))


class Some(NamedTuple):
    """A list or tuple of some words."""

    words: tuple[str, ...]

    def accepts(self, value: object) -> bool:
        """Whether the value is one."""
        return isinstance(value, list | tuple) and all(word in self.words for word in value)

    def __str__(self) -> str:
        return "a list of " + ", ".join(map(repr, self.words))


class Instance(NamedTuple):
    """An object of some type."""

    kind: type
    words: str

    def accepts(self, value: object) -> bool:
        """Whether the value is one."""
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return self.words


Constraint = Whole | Number | OneOf | Some | Instance


def check(parameters: Mapping[str, Any], constraints: Mapping[str, tuple[Constraint, ...]]) -> None:
    """Raise ``ArgumentError`` for the first parameter that fits none of its constraints."""
    for name, allowed in constraints.items():
        value = parameters[name]
        if not any(constraint.accepts(value) for constraint in allowed):
            raise ArgumentError(name, f"{value!r}", ", or ".join(map(str, allowed)))
