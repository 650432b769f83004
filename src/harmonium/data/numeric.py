"""Arrays of anything as arrays of real numbers, or an error that names the first value that is none."""

import math
import numbers
import reprlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from harmonium.errors import ArgumentError

REAL = (numbers.Real, np.bool_, Decimal, type(None))
"""The types of the objects taken as real numbers; None is NaN."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument holds objects of a type that cannot be used."""


def is_real(dtype: np.dtype) -> bool:
    """Whether all values of a dtype are real numbers (booleans among them)."""
    return np.can_cast(dtype, np.float64, "same_kind")


def real(values: np.ndarray, name: str, where: Callable[[int], str]) -> np.ndarray:
    """The array itself if its dtype is of real numbers; an array of objects that are real numbers, as float64.

    ``where`` says in words the place of the i-th value, counted row after row.
    """
    if is_real(values.dtype):
        return values
    if values.dtype.kind == "c":
        raise _complex(name, f"{values.dtype} values")
    if values.dtype.kind != "O":
        found = f"values of type {values.dtype}"
        raise ArgumentError(name, found, "real numbers: turn text, dates and categories into numbers first")
    given = values.reshape(-1)
    floats = np.empty(given.size)
    for start in range(0, given.size, 2**16):
        part = given[start : start + 2**16]
        strange = {kind for kind in set(map(type, part)) if not issubclass(kind, REAL)}
        if strange:
            first = next(i for i, value in enumerate(part) if type(value) in strange)
            raise _strange(name, part[first], where(start + first))
        try:
            floats[start : start + len(part)] = part
        except OverflowError:
            floats[start : start + len(part)] = [_float(value) for value in part]
    return floats.reshape(values.shape)


def _float(value: Any) -> float:
    """A number as a float; infinite if it is too large for one."""
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _complex(name: str, found: str) -> ArgumentError:
    return ArgumentError(name, f"{found} (Complex data not supported)", "real numbers: for example X.real, X.imag")


def _strange(name: str, value: object, where: str) -> ArgumentError:
    found = f"{reprlib.repr(value)} at {where}"
    if isinstance(value, numbers.Complex):
        return _complex(name, found)
    if isinstance(value, str | bytes):
        return ArgumentError(name, found, "real numbers: turn text into numbers first")
    phrase = f"argument must be a string or a real number, not {type(value).__name__!r}"
    return ArgumentTypeError(name, f"{found} ({phrase})", "real numbers")
