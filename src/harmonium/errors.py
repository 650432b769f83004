"""The errors Harmonium raises on purpose. Each says what was found, what was wanted, and what to do."""


class ArgumentError(ValueError):
    """An argument has a value that cannot be used."""

    def __init__(self, argument: str, found: str, wanted: str) -> None:
        super().__init__(f"{argument}: found {found}; wanted {wanted}.")
        self.argument = argument


class NotNormalisableError(ValueError):
    """Σ exp(-E), or the integral in its place, is infinite: the energy defines no distribution."""
