"""The report: from what was found to a page, section by section."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from harmonium.likelihood.interval import Interval
from harmonium.report import couplings, course, images, ink, mixing, moments, page
from harmonium.report.findings import Findings, Scores
from harmonium.report.judgement import MOMENTS, judged, standard_error
from harmonium.report.moments import Moments
from harmonium.report.verdicts import Verdict

FEW = 4
N_IMAGES, N_FILTERS, N_PAIRS = 48, 48, 12


def report(found: Findings) -> str:
    """The page."""
    compared = [] if found.data is None or len(found.data) < FEW else list(moments.compare(found.data, found.draws))
    with ink.page_style():
        sections = [
            _opening(found, judged(found, compared)),
            _likelihood(found),
            _learning(found),
            _learned(found),
            _made_up(found),
            _moments(found, compared),
            _mixing(found),
            _recipe(found),
        ]
    return page.page(found.title, sections)


def _opening(found: Findings, said: Sequence[Verdict]) -> str:
    return "\n".join(
        [page.heading(found.title, 1), page.facts(found.facts), page.heading("In short"), page.verdicts(said)]
    )


def _likelihood(found: Findings) -> str:
    said = [page.heading("How likely it finds the rows")]
    if not found.scores:
        words = "Without rows there is no likelihood to report: give the report the table that the model learned from."
        return "\n".join([*said, page.paragraph(words)])
    groups = [(f"On {scores.part}", _score_rows(scores, found.log_z)) for scores in found.scores]
    said.append(page.grouped(("", "nats a row", "lead of the model"), groups))
    words = (
        "The mean log-likelihood of rows. Each ± is a standard error: what the number would differ by for other rows "
        "like these. A lead of 1 nat means rows that are e = 2.7 times as likely, on geometric average."
    )
    said.append(page.paragraph(words, quiet=True))
    if found.log_z is not None:
        said.append(page.paragraph(_about_log_z(found.log_z), quiet=True))
    said += [page.paragraph(note, quiet=True) for note in found.notes]
    return "\n".join(said)


def _score_rows(scores: Scores, log_z: Interval | None) -> list[tuple[str, str, str]]:
    rows = [("this model", f"{page.number(scores.model.mean())} ± {standard_error(scores.model):.2f}", "")]
    if log_z is not None and log_z.method != "exact":
        mean = float(scores.model.mean()) + log_z.estimate
        rows.append(
            ("for log Z's interval", f"{page.number(mean - log_z.upper)} to {page.number(mean - log_z.lower)}", "")
        )
    for name, theirs in scores.others.items():
        lead = scores.model - theirs
        value = f"{page.number(theirs.mean())} ± {standard_error(theirs):.2f}"
        rows.append((name, value, f"{page.number(lead.mean())} ± {standard_error(lead):.2f}"))
    return rows


def _about_log_z(z: Interval) -> str:
    if z.method == "exact":
        return f"log Z = {page.number(z.estimate, 3)}, exactly: by summing over all configurations."
    return (
        f"log Z was estimated as {page.number(z.estimate)}, between {page.number(z.lower)} and {page.number(z.upper)}, "
        f"by chains annealed up to the model and back, worth {z.ess:,.0f} independent ones; the interval of the "
        f"likelihood is what that leaves open. Verdict: {z.verdict}. {z.reason}"
    )


def _learning(found: Findings) -> str:
    names = course.panels(found.history)
    if not names:
        return ""
    made = []
    for name in names:
        title = course.WORDS.get(name, name.replace("_", " "))

        def draw(axes: Axes, name: str = name) -> None:
            course.draw(axes, found.history, name)

        made.append(_figure(draw, title[0].upper() + title[1:], course.ABOUT.get(name, "")))
    return page.heading("How it learned") + page.figures(made)


def _learned(found: Findings) -> str:
    n = min(N_FILTERS, len(found.weights))
    said = [page.heading("What it learned")]
    about = "The hidden units with the largest weights: blue raises a value, orange lowers it."
    if found.shape is not None:
        shape = found.shape
        drawn = _figure(
            lambda axes: images.draw_filters(axes, found.weights, shape, n, _across(n, shape)),
            f"Weights of {n} of {len(found.weights)} hidden units",
            about,
            _grid_height(n, shape) + 0.6,
        )
        said.append(page.figures([drawn]))
    if found.shape is None or found.named:
        said += _by_name(found, about if found.shape is None else "")
    return "\n".join(said)


def _by_name(found: Findings, about: str) -> list[str]:
    said, n_values = [], len(found.names)
    if about:
        n = min(40, len(found.weights))
        shown = min(30, n_values)
        which = (
            f"{shown} of {n_values} values of columns, those with the largest weights, by" if shown < n_values else "By"
        )
        drawn = _figure(
            lambda axes: couplings.draw(axes, found.weights, found.names, n),
            "Weights",
            f"{which} {n} of {len(found.weights)} hidden units: blue raises a value, orange lowers it.",
            0.9 + 0.145 * shown,
        )
        said.append(page.figures([drawn]))
    joint = couplings.effective(found.weights, found.variances)
    strongest = couplings.pairs(joint, found.names, found.columns, N_PAIRS)
    said.append(page.heading("Columns that hold each other most strongly", 3))
    words = (
        "The coupling of two columns through the hidden units, Σⱼ var(hⱼ) Wⱼₐ Wⱼᵦ, averaged over rows: positive where "
        "they go together, negative where one excludes the other, given all other columns."
    )
    said.append(page.paragraph(words, quiet=True))
    rows = [(pair.first, pair.second, page.number(pair.coupling)) for pair in strongest]
    said.append(page.table(("", "and", "coupling"), rows, 1))
    said.append(page.heading("The strongest hidden units", 3))
    units = [(str(unit), up, down) for unit, up, down in couplings.readings(found.weights, found.names)]
    said.append(page.table(("unit", "raises most", "lowers most"), units, 0))
    return said


def _made_up(found: Findings) -> str:
    said = [page.heading("What it makes up")]
    if found.shape is None:
        said.append(_rows_as_tables(found))
        return "\n".join(said)
    shape, made = found.shape, []
    shown = [("Samples of the model", "From chains of their own, none chosen.", found.samples)]
    if found.data is not None:
        shown.insert(0, ("Rows of the data", "Chosen by chance.", found.data))
    for title, about, rows in shown:
        some = rows[:N_IMAGES]

        def draw(axes: Axes, some: Any = some) -> None:
            images.draw_rows(axes, some, shape, _across(len(some), shape))

        made.append(_figure(draw, title, about, _grid_height(len(some), shape)))
    said.append(page.figures(made))
    return "\n".join(said)


def _rows_as_tables(found: Findings) -> str:
    """The first few samples as heat maps beside data: rows of values, which a person can at least compare."""
    shown = [("Samples of the model", "24 rows from chains of their own, none chosen, by column.", found.samples)]
    if found.data is not None:
        shown.insert(0, ("Rows of the data", "24 rows chosen by chance, by column.", found.data))
    low, high = (float(f([f(part) for *_, part in shown])) for f in (np.min, np.max))
    made = []
    for title, about, rows in shown:

        def draw(axes: Axes, rows: Any = rows) -> None:
            axes.imshow(rows[:24], ink.SHADES, vmin=low, vmax=high, aspect="auto", interpolation="none")
            axes.set(
                xlabel="columns" if found.columns.max() + 1 == len(found.columns) else "values of columns",
                ylabel="rows",
            )

        made.append(_figure(draw, title, about))
    return page.figures(made)


def _moments(found: Findings, compared: Sequence[Moments]) -> str:
    if found.data is None or not compared:
        return ""
    made, said = [], []
    for one, what, plural in zip(compared, ("mean", "covariance"), MOMENTS, strict=True):
        if not len(one.data):
            continue
        about = (
            f"{len(one.data):,} {plural}; on the line, model and data agree. "
            f"Correlation {page.number(one.correlation, 3)}."
        )

        def draw(axes: Axes, one: Moments = one, what: str = what) -> None:
            moments.draw(axes, one, what)

        made.append(_figure(draw, plural.capitalize(), about, 3.4))
        said.append(
            f"{plural} differ by {one.distance:.3g} (root mean square), where chance alone makes {one.noise:.2g}"
        )
    words = f"The model's {'; its '.join(said)}." if said else ""
    how = (
        f"From {len(found.data):,} rows of data and {len(found.draws):,} draws of the model; draws of one chain "
        "resemble each other, so that chance makes somewhat more than that."
    )
    return "\n".join(
        [
            page.heading("Whether it matches the data"),
            page.paragraph(words),
            page.paragraph(how, quiet=True),
            page.figures(made),
        ]
    )


def _mixing(found: Findings) -> str:
    traces = found.traces
    half, (n_chains, n_draws) = traces.half_life, traces.values.shape
    reach = (len(traces.autocorrelation) - 1) * traces.thin
    after = (
        f"falls below a half within {half:,} sweeps" if half is not None else f"stays above a half for {reach:,} sweeps"
    )
    words = (
        f"{n_chains} chains of Gibbs sampling, looked at {n_draws} times, {traces.thin} sweeps apart. The "
        f"autocorrelation of their free energy {after}."
    )
    made = [
        _figure(lambda axes: mixing.draw_autocorrelation(axes, traces), "Autocorrelation",
                "Of the free energy, all chains together: it stays up where chains stay apart."),
        _figure(lambda axes: mixing.draw_traces(axes, traces), "Traces",
                f"The free energy of {min(mixing.SHOWN, n_chains)} chains."),
    ]  # fmt: skip
    rows = [
        (name, page.number(one.r_hat), f"{one.ess:,.0f} of {traces.values.size:,}", f"{one.time * traces.thin:,.0f}")
        for name, one in found.mixing.items()
    ]
    head = ("", "R̂", "effective draws", "sweeps to forget")
    about = (
        "R̂ above 1.01 says that chains do not agree; that it is near 1 does not say that no mode was missed. "
        "Directions are those of the strongest couplings (arviz-stats; Vehtari et al. 2021)."
    )
    said = [page.heading("Whether its chains mix"), page.paragraph(words), page.table(head, rows, 3)]
    return "\n".join([*said, page.paragraph(about, quiet=True), page.figures(made)])


def _recipe(found: Findings) -> str:
    said = page.heading("How to make it again") + "".join(page.code(what, lines) for what, lines in found.recipe)
    if found.further:
        said += page.heading("What to try next") + "".join(page.code(what, lines) for what, lines in found.further)
    return said


def _figure(draw: Callable[[Axes], Any], title: str, about: str, height: float = ink.HEIGHT) -> str:
    drawn = ink.blank(height)
    draw(drawn.subplots())
    return page.figure(drawn, title, about)


def _across(n: int, shape: tuple[int, int]) -> int:
    """Images in a line: 8 of square ones."""
    return max(1, min(n, round(8 * sqrt(shape[0] / shape[1]))))


def _grid_height(n: int, shape: tuple[int, int]) -> float:
    across = _across(n, shape)
    return ink.WIDTH * -(-n // across) * (shape[0] + 1) / (across * (shape[1] + 1))
