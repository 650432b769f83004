"""All that is to be said of a model and its run, in words: which verdicts apply, what is wrong first."""

from collections.abc import Sequence

import numpy as np

from harmonium.report import verdicts
from harmonium.report.findings import Findings, LogZ
from harmonium.report.moments import Moments
from harmonium.report.verdicts import Verdict

MOMENTS = ("means", "covariances of pairs")


def judged(found: Findings, compared: Sequence[Moments] = ()) -> list[Verdict]:
    """All verdicts, what is wrong first."""
    said: list[Verdict | None] = []
    if found.log_z is not None and found.scores:
        said.append(_trust(found.log_z))
    if found.scores:
        last = found.scores[-1]
        part = f", on the {last.part}"
        for name, theirs in last.others.items():
            lead = last.model - theirs
            one = verdicts.beside(name, float(lead.mean()), standard_error(lead))
            said.append(one._replace(words=one.words.rstrip(".") + part + "." if one.good is not False else one.words))
        if len(found.scores) > 1:
            first = found.scores[0]
            error = float(np.hypot(standard_error(first.model), standard_error(last.model)))
            said.append(verdicts.gap(float(first.model.mean()), float(last.model.mean()), error))
    said += [verdicts.misled(found.history), verdicts.overfitting(found.history), verdicts.chains_stuck(found.history)]
    said += verdicts.units_idle(found.history, len(found.weights))
    said.append(verdicts.units_alive(found.history, len(found.weights)))
    reach = (len(found.traces.autocorrelation) - 1) * found.traces.thin
    said.append(verdicts.samples_stuck(found.traces.memory, reach))
    for moments, what in zip(compared, MOMENTS, strict=False):
        if len(moments.data):
            said.append(verdicts.moments_off(what, moments.distance, moments.noise))
    kept = [one for one in said if one is not None]
    return sorted(kept, key=lambda one: {False: 0, True: 1, None: 2}[one.good])


def _trust(z: LogZ) -> Verdict | None:
    if z.exact or not z.verdict:
        return None
    good = {"agree": True, "do not trust": False}.get(z.verdict)
    reason = f" {z.reason}" if z.reason else ""
    return Verdict(
        good, f"The likelihood is known to ± {(z.upper - z.lower) / 2:.2f} nats; verdict: {z.verdict}.{reason}"
    )


def standard_error(values: Sequence[int | float] | np.ndarray) -> float:
    """That of a mean; NaN of one value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
