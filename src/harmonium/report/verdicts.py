"""What is right and wrong with a run, in words: pure functions from what was found to sentences.

Each returns at most one verdict, and None where it has nothing to say. The thresholds are of the kind that a person
with a picture before them would use: they are written down here so that they can be argued with.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

History = Mapping[str, Sequence[int | float]]

STUCK = 0.9
"""A memory of chains above this after ten sweeps, or after half of a long run, is called stuck."""

TOO_MANY = 0.1
"""The share of hidden units that may be dead or saturated before it is said."""

FALL, SHARE, LAST = 3.0, 0.05, 3
"""Falls are said if the median of the last looks is below the best before them by more than so many standard errors of
log Z, and more than that share of the rise."""

RARE, APART = 0.05, 1.1
"""A swap rate below the one, or an R̂ above the other, is called a fault."""

OFF = 4.0
"""Moments are called off where they differ by more than so many times what chance makes."""


class Verdict(NamedTuple):
    """A sentence or two; ``good`` is None where it is neither praise nor blame."""

    good: bool | None
    words: str


def chains_stuck(history: History) -> Verdict | None:
    """The chains of learning remember where they were."""
    memory = history.get("chain_memory", ())
    if not len(memory) or not memory[-1] > STUCK:
        return None
    return Verdict(
        False,
        f"The chains of learning are stuck: after ten sweeps they are still correlated with themselves by "
        f"{memory[-1]:.2f}. What they say about the model comes from few places. Use more chains or sweeps "
        "(n_chains, n_gibbs), a lower learning rate, or a stronger penalty (l2).",
    )


def swaps_rare(history: History) -> Verdict | None:
    """Tempered chains that hardly swap are chains at one temperature."""
    rate = history.get("swap_rate", ())
    if not len(rate) or not rate[-1] < RARE:
        return None
    words = f"Two neighbours on the ladder of temperatures swap with probability {rate[-1]:.3f} only"
    return Verdict(False, f"{words}: what the hot chains find hardly arrives. Use more temperatures (n_temperatures).")


def chains_apart(r_hats: Mapping[str, float]) -> Verdict | None:
    """Chains that do not agree on a number, by R̂."""
    known = {name: value for name, value in r_hats.items() if value > APART}  # not NaN
    if not known:
        return None
    worst = max(known, key=lambda name: known[name])
    words = (
        f"The chains that samples come from do not agree: R̂ = {known[worst]:.2f} for the {worst}, where 1.01 is good"
    )
    return Verdict(False, f"{words}. Samples may show some kinds of rows too often, and others not at all.")


def samples_stuck(memory: float, sweeps: int) -> Verdict | None:
    """The chains that samples came from stay apart."""
    if not memory > STUCK / 2:
        return None
    return Verdict(
        False,
        f"The chains that samples come from mix badly: {sweeps:,} sweeps later their free energies are still "
        f"correlated by {memory:.2f}. Samples may show some kinds of rows too often, and others not at all.",
    )


def units_idle(history: History, n_hidden: int) -> list[Verdict]:
    """Hidden units that are the same whatever the row."""
    said = []
    for name, what, advice in (
        ("dead_units", "dead: the same, and not on, whatever the row", "a lower learning rate, or a weaker penalty"),
        ("saturated_units", "saturated: on, whatever the row", "a lower learning rate, or a stronger penalty (l2)"),
    ):
        count = history[name][-1] if len(history.get(name, ())) else 0
        if count > TOO_MANY * n_hidden:
            words = f"{count:.0f} of {n_hidden} hidden units are {what}. Try {advice}, or fewer hidden units."
            said.append(Verdict(False, words))
    return said


def units_alive(history: History, n_hidden: int) -> Verdict | None:
    """Hidden units that all tell rows apart."""
    if any(not len(history.get(name, ())) or history[name][-1] for name in ("dead_units", "saturated_units")):
        return None
    return Verdict(True, f"All {n_hidden} hidden units tell rows apart.")


def misled(history: History) -> Verdict | None:
    """The likelihood falls while reconstruction improves: the trap of contrastive divergence (Fischer & Igel 2010)."""
    error = np.asarray(history.get("reconstruction_error", ()), float)
    if "log_likelihood" not in history or len(error) <= LAST:
        return None
    fall, best = _fall(history, "log_likelihood")
    if not fall or not np.median(error[-LAST:]) < error[best]:
        return None
    return Verdict(
        False,
        f"The log-likelihood of rows learned from has fallen by {fall:.2f} nats since update {_step(history, best)}, "
        "while the reconstruction error still improved: reconstruction is not what the model is for. Use persistent "
        "chains (method='pcd') or more sweeps (n_gibbs), or keep the best model (validation_fraction).",
    )


def overfitting(history: History) -> Verdict | None:
    """Rows held out become less likely while rows learned from become more so."""
    learned, held = (history.get(name, ()) for name in ("log_likelihood", "validation_log_likelihood"))
    if len(held) <= LAST or len(learned) != len(held):
        return None
    fall, best = _fall(history, "validation_log_likelihood")
    if not fall or not np.median(learned[-LAST:]) > learned[best]:
        return None
    return Verdict(
        None,
        f"After update {_step(history, best)} the model went on to learn its rows by heart: rows held out lost "
        f"{fall:.2f} nats until the end. The model kept is the one of that update.",
    )


def beside(name: str, lead: float, error: float) -> Verdict:
    """Whether the model beats a baseline on rows it has not seen: by more than two standard errors of the lead."""
    if lead > 2 * error:
        return Verdict(True, f"Better than {name}, by {lead:.2f} ± {error:.2f} nats a row.")
    if lead < -2 * error:
        words = (
            f"Worse than {name}, by {-lead:.2f} ± {error:.2f} nats a row: learn for longer, or with more hidden units."
        )
        return Verdict(False, words)
    return Verdict(None, f"No better and no worse than {name}: the lead is {lead:.2f} ± {error:.2f} nats a row.")


def gap(learned: float, unseen: float, error: float) -> Verdict | None:
    """Rows learned from are likelier than others."""
    if not learned - unseen > max(1.0, 3 * error):
        return None
    words = f"Rows learned from are {learned - unseen:.1f} nats likelier than rows not seen: the model overfits."
    return Verdict(None, f"{words} More rows, fewer hidden units or a stronger penalty (l2) narrow this gap.")


def moments_off(what: str, distance: float, noise: float) -> Verdict | None:
    """Draws of the model have other moments than the data."""
    if not distance > OFF * noise:
        return None
    words = f"The {what} of the model's draws are off by {distance:.2g}, {distance / noise:.0f} times what chance makes"
    return Verdict(None, f"{words}: either the model has them wrong, or its chains do not show it well.")


def _step(history: History, place: int) -> str:
    return f"{history['step'][place]:,}"


def _fall(history: History, name: str) -> tuple[float, int]:
    """How far below its best a number ended, 0 if not by more than chance, and the place of the best."""
    found = np.asarray(history[name], float)
    if not np.isfinite(found[:-LAST]).any():
        return 0.0, 0
    best = int(np.nanargmax(found[:-LAST]))
    error = np.asarray(history.get("log_partition_error", np.zeros(len(found))), float)
    noise = FALL * float(np.hypot(error[best], np.max(error[-LAST:])))
    rise = float(found[best] - found[0])
    fall = float(found[best] - np.median(found[-LAST:]))
    return (fall, best) if fall > max(noise, SHARE * rise) else (0.0, best)
