"""Options made from the constructor of an estimator: names, defaults, what is allowed, and words of its docstring."""

import argparse
import re
from collections.abc import Callable
from inspect import getdoc, signature
from typing import Any

ASIDE = ("checkpoint", "resume", "verbose", "log")
"""Parameters that the command line has its own words for."""

RENAMED = {"random_state": "seed", "validation_fraction": "validation"}
SEED = 0
"""The default of ``random_state`` here: the same command leaves the same model."""


def add(parser: argparse.ArgumentParser, estimator: type) -> None:
    """An option for each parameter of an estimator that a word can give a value to."""
    group = parser.add_argument_group(f"parameters of {estimator.__name__}")
    words = described(estimator)
    for name, default in defaults(estimator).items():
        allowed = estimator._allowed.get(name)  # type: ignore[attr-defined]
        text = f"{words.get(name, '')} (default: {default})".strip().replace("%", "%%")
        if isinstance(default, bool):
            group.add_argument(
                option(name), dest=name, action=argparse.BooleanOptionalAction, default=default, help=text
            )
        elif name == "random_state":
            text = f"Where chance begins: with the same one all results repeat (default: {default})"
            group.add_argument(option(name), dest=name, metavar="N", type=seed, default=default, help=text)
        else:
            metavar = _metavar(allowed, name)
            group.add_argument(
                option(name), dest=name, metavar=metavar, type=reader(allowed), default=default, help=text
            )


def option(parameter: str) -> str:
    """The option for a parameter: ``n_components`` is ``--components``, ``batch_size`` is ``--batch-size``."""
    return "--" + RENAMED.get(parameter, parameter.removeprefix("n_")).replace("_", "-")


def defaults(estimator: type) -> dict[str, Any]:
    """The parameters that options set, with their defaults."""
    found = {p.name: p.default for p in signature(estimator).parameters.values() if p.name not in ASIDE}
    return found | {"random_state": SEED}


def described(estimator: type) -> dict[str, str]:
    """The parameters in the words of a numpydoc docstring; of one paragraph each, where several share it."""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", getdoc(estimator) or "", re.DOTALL)
    found: dict[str, str] = {}
    for names, text in re.findall(r"^(\w[\w, ]*) : .*\n((?:    .*\n?)+)", section[1] if section else "", re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), " ".join(text.replace("``", "").split()))
    return found


def reader(allowed: tuple[Any, ...] | None) -> Callable[[str], Any]:
    """From a word to the value it stands for, if that is allowed."""

    def read(word: str) -> Any:
        for kind in (_nothing, int, float, str):
            try:
                value = kind(word)
            except ValueError:
                continue
            if allowed is None or any(constraint.accepts(value) for constraint in allowed):
                return value
        wanted = ", or ".join(str(constraint) for constraint in allowed or () if _has_word(constraint))
        raise argparse.ArgumentTypeError(f"found {word!r}; wanted {wanted}")

    return read


def counter(least: int) -> Callable[[str], int]:
    """A whole number of at least ``least``."""

    def count(word: str) -> int:
        if word.isdecimal() and int(word) >= least:
            return int(word)
        raise argparse.ArgumentTypeError(f"found {word!r}; wanted a whole number of at least {least}")

    return count


def seed(word: str) -> int:
    """A whole number that can be a seed."""
    if word.isdecimal() and int(word) < 2**32:
        return int(word)
    raise argparse.ArgumentTypeError(f"found {word!r}; wanted a whole number from 0 to {2**32 - 1}")


def _nothing(word: str) -> None:
    if word != "None":
        raise ValueError


def _has_word(constraint: Any) -> bool:
    """Whether a word can stand for what the constraint accepts: for objects there is none."""
    return getattr(constraint, "kind", str) is str


def _metavar(allowed: tuple[Any, ...] | None, name: str) -> str:
    """The choices if there are only choices, else a letter or word for a number."""
    choices = [str(value) for constraint in allowed or () for value in getattr(constraint, "values", ())]
    others = [c for c in allowed or () if not hasattr(c, "values") and _has_word(c)]
    numbers = ["N" if type(c).__name__ == "Whole" else "X" for c in others]
    return "|".join([*numbers, *choices]) or name.upper()
