"""The course of a run: what each monitor found, against updates."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from harmonium.report.ink import SECOND

History = Mapping[str, Sequence[int | float]]

WORDS = {
    "validation_log_likelihood": "log-likelihood, held out",
    "log_likelihood": "log-likelihood",
    "pseudo_likelihood": "log pseudo-likelihood",
    "reconstruction_error": "reconstruction error",
    "free_energy_gap": "free-energy gap",
    "gradient_norm": "norm of the gradient",
    "dead_units": "dead hidden units",
    "saturated_units": "saturated hidden units",
    "chain_memory": "memory of the chains",
    "swap_rate": "rarest swap",
}
ABOUT = {
    "validation_log_likelihood": "Nats a row. If rows held out fall while rows learned from rise, the model "
    "learns its rows by heart.",
    "log_likelihood": "Nats a row.",
    "pseudo_likelihood": "Nats a row: each column given all the others. It needs no log Z, and is no likelihood.",
    "reconstruction_error": "Squared distance of a row from its reconstruction. No measure of likelihood.",
    "free_energy_gap": "Held out less learned from, in nats: it grows as a model overfits.",
    "gradient_norm": "Estimated from the rows watched; it does not go to zero, for chance remains.",
    "dead_units": "Hidden units that are the same whatever the row.",
    "saturated_units": "Hidden units that are on whatever the row.",
    "chain_memory": "Correlation of the chains with themselves ten sweeps before: near 1 they do not move.",
    "swap_rate": "How often the two temperatures swap that swap least: from 0.2 on, all is well.",
}
BESIDE = {"validation_log_likelihood": "log_likelihood", "dead_units": "saturated_units"}
"""Drawn in the same panel."""

IDLE = ("dead_units", "saturated_units")
ASIDE = ("step", "epoch", "log_partition_error")


def panels(history: History, *, idle: bool = False) -> list[str]:
    """The monitors that have a panel of their own; with ``idle`` also those of idle units where there were none."""
    names = [name for name in history if name not in ASIDE and len(history[name])]
    names.sort(key=lambda name: list(WORDS).index(name) if name in WORDS else len(WORDS))
    if not idle and not any(any(history.get(name, ())) for name in IDLE):  # a flat line at zero is said in words
        names = [name for name in names if name not in IDLE]
    shared = {BESIDE[name] for name in names if name in BESIDE}
    return [name for name in names if name not in shared]


def draw(axes: Axes, history: History, name: str) -> None:
    """What one monitor found, with what is drawn beside it."""
    axes.plot(history["step"], history[name], ".-", label=_short(name))
    other = BESIDE.get(name)
    if other is not None and other in history:
        axes.plot(history["step"], history[other], ".--", color=SECOND, label=_short(other))
        axes.legend()
    axes.set(xlabel="updates", ylabel="" if other in history else WORDS.get(name, name.replace("_", " ")))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    if name in ("dead_units", "reconstruction_error", "gradient_norm"):
        axes.set_ylim(bottom=0, top=max(1, axes.get_ylim()[1]) if name == "dead_units" else None)
    if name == "dead_units":
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def _short(name: str) -> str:
    known = {
        "validation_log_likelihood": "held out",
        "log_likelihood": "learned from",
        "dead_units": "dead",
        "saturated_units": "saturated",
    }
    return known.get(name, name)
