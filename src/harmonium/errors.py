"""The errors Harmonium raises on purpose. Each says what was found, what was wanted, and what to do."""

from typing import Any


class ArgumentError(ValueError):
    """An argument has a value that cannot be used."""

    def __init__(self, argument: str, found: str, wanted: str) -> None:
        super().__init__(f"{argument}: found {found}; wanted {wanted}.")
        self.argument = argument


class NotNormalisableError(ValueError):
    """Σ exp(-E), or the integral in its place, is infinite: the energy defines no distribution."""


class DivergenceError(ArithmeticError):
    """A run left the numbers that make sense. ``step`` is the update that did it; ``state`` is the one before it."""

    def __init__(self, step: int, found: str, state: Any) -> None:
        super().__init__(
            f"training diverged in update {step}: found {found}. "
            "The state before it was kept. Try a smaller learning_rate, or a penalty on the weights (l2)."
        )
        self.step = step
        self.found = found
        self.state = state
