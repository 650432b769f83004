"""All that is to be said of a model and its run, in words: which verdicts apply, what is wrong first."""

from collections.abc import Sequence

import numpy as np

from harmonium.likelihood.interval import AGREE, DO_NOT_TRUST, Interval
from harmonium.report import verdicts
from harmonium.report.findings import Findings
from harmonium.report.moments import Moments
from harmonium.report.verdicts import Verdict

MOMENTS = ("means", "covariances of pairs")


def judged(found: Findings, compared: Sequence[Moments] = ()) -> list[Verdict]:
    """All verdicts, what is wrong first."""
    said: list[Verdict | None] = []
    if found.log_z is not None and found.scores:
        said.append(trust(found.log_z))
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
    said.append(verdicts.swaps_rare(found.history))
    apart = verdicts.chains_apart({name: one.r_hat for name, one in found.mixing.items()})
    reach = (len(found.traces.autocorrelation) - 1) * found.traces.thin
    said.append(apart or verdicts.samples_stuck(found.traces.memory, reach))
    for moments, what in zip(compared, MOMENTS, strict=False):
        if len(moments.data):
            said.append(verdicts.moments_off(what, moments.distance, moments.noise))
    kept = [one for one in said if one is not None]
    return sorted(kept, key=lambda one: {False: 0, True: 1, None: 2}[one.good])


def trust(log_z: Interval) -> Verdict:
    """Whether the likelihood is to be believed."""
    if log_z.method == "exact":
        return Verdict(True, "The likelihood is exact: log Z is a sum over all configurations.")
    good = {AGREE: True, DO_NOT_TRUST: False}.get(log_z.verdict)
    words = f"The likelihood is known to ± {log_z.width / 2:.2f} nats; the verdict on log Z: {log_z.verdict}."
    return Verdict(good, f"{words} {log_z.reason}".rstrip())


def standard_error(values: Sequence[int | float] | np.ndarray) -> float:
    """That of a mean; NaN of one value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
