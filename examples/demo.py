"""What `make demo` runs: the examples, a picture of what they found, and a report with the numbers."""

import base64
import io
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from string import Template
from typing import Any

import gaussian_mean
import ising
import matplotlib as mpl
import mixed_rbm
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

import harmonium as hm

SAMPLED, EXACT = "#3d7fd1", "#e08a2e"
SPINS = ListedColormap(["#f3e3c8", "#2f4a6b"])
FACES = ("savefig.facecolor", "figure.facecolor", "axes.facecolor")
LINES = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
LIGHT = dict.fromkeys(FACES, "#ffffff")
DARK = dict.fromkeys(FACES, "#14181f") | dict.fromkeys(LINES, "#c9d1dc")
PLAIN = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}

Panel = Figure | SubFigure


def draw_learning(panel: Panel, learned: gaussian_mean.Learned) -> None:
    above, below = panel.subplots(2, sharex=True, height_ratios=(2, 1))
    steps = [row.step for row in learned.rows]
    above.axhline(learned.data_mean, color=EXACT, label="mean of the data")
    above.plot(steps, [row.mu for row in learned.rows], ".-", color=SAMPLED, markersize=4, label="μ")
    above.set(title="Contrastive divergence finds a Gaussian's mean", ylabel="μ")
    above.legend()
    draw_differences(below, [(row.population_sampled - row.population_exact) / row.error for row in learned.rows])
    below.set(xlabel="step", ylabel="error of ∂L/∂μ,\nstandard errors")


def draw_spins(panel: Panel, rows: list[ising.Row]) -> None:
    for axes, row in zip(panel.subplots(1, 3), rows, strict=True):
        axes.imshow(row.spins, cmap=SPINS, vmin=-1, vmax=1, interpolation="nearest")
        axes.spines[:].set_visible(True)
        energy = f"u = {row.energy:.3f} ± {row.error:.3f}\nexact {row.exact:.3f}".replace("-", "−")
        axes.set(xticks=[], yticks=[], title=f"βJ = {row.coupling:.4g}", xlabel=energy)


def draw_moments(panel: Panel, found: mixed_rbm.Comparison) -> None:
    above, below = panel.subplots(2, height_ratios=(2, 1))
    ends = [found.exact.min(), found.exact.max()]
    above.plot(ends, ends, color=EXACT, label="equal")
    above.errorbar(found.exact, found.sampled, found.error, fmt=".", color=SAMPLED, markersize=5, label="moments")
    above.set(title=f"{len(found.exact)} moments of a mixed machine", xlabel="exact", ylabel="sampled")
    above.legend()
    draw_differences(below, (found.sampled - found.exact) / found.error)
    below.set(xlabel="moment", ylabel="difference,\nstandard errors")


def draw_differences(axes: Any, differences: Any) -> None:
    """Differences in standard errors; about 19 of 20 should lie in the band."""
    axes.axhspan(-2, 2, color=EXACT, alpha=0.18, linewidth=0)
    axes.axhline(0, color=EXACT)
    axes.plot(differences, ".", color=SAMPLED, markersize=5)
    reach = max(4.5, 0.5 + np.abs(differences).max())
    axes.set(ylim=(-reach, reach), yticks=[-4, -2, 0, 2, 4])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_conditional(panel: Panel, found: mixed_rbm.Comparison) -> None:
    axes = panel.subplots()
    place = np.arange(len(found.exact))
    axes.bar(place, found.exact, color=EXACT, alpha=0.75, label="exact")
    axes.errorbar(place, found.sampled, found.error, fmt=".", color=SAMPLED, label="sampled, clamped")
    axes.set_xticks(place, found.labels, rotation=90, fontsize=8)
    axes.set(title="What is missing, given what is known", ylabel="probability")
    axes.set_xlabel("second choice (A, B, C) and three answers (0 or 1)")
    axes.legend()


def picture(path: Path, learned: Any, spins: Any, moments: Any, conditional: Any) -> None:
    """All four in one picture."""
    with mpl.rc_context(PLAIN | LIGHT):
        figure = Figure(figsize=(15, 9.7), layout="constrained")
        figure.get_layout_engine().set(rect=(0.01, 0.01, 0.98, 0.98))
        top, bottom = figure.subfigures(2, 1, hspace=0.05)
        top.suptitle("The Ising model on a 64×64 torus: dark is spin +1; u is the energy per site, in units of J")
        draw_spins(top, spins)
        left, middle, right = bottom.subfigures(1, 3, wspace=0.04)
        draw_learning(left, learned)
        draw_moments(middle, moments)
        draw_conditional(right, conditional)
        figure.savefig(path, dpi=110)


def embedded(draw: Callable[[Panel, Any], None], found: Any, height: float, text: str) -> str:
    """One figure as HTML, drawn for a light page and for a dark one, and narrow enough for a phone."""
    pictures = []
    for colours in (LIGHT, DARK):
        with mpl.rc_context(PLAIN | colours):
            figure = Figure(figsize=(5.4, height), layout="constrained")
            draw(figure, found)
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=170)
            pictures.append("data:image/png;base64," + base64.b64encode(file.getvalue()).decode())
    light, dark = pictures
    dark = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">'
    return f'<picture>{dark}<img src="{light}" alt="{text}"></picture>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def compared(what: str, found: mixed_rbm.Comparison) -> str:
    rows = zip(*found, strict=True)
    return table(
        (what, "sampled", "exact", "difference / error"),
        ((label, f"{s:.4f} ± {e:.4f}", f"{x:.4f}", f"{(s - x) / e:.1f}") for label, s, e, x in rows),
    )


def report(path: Path, learned: Any, spins: Any, moments: Any, conditional: Any, seconds: float) -> None:
    """One file with everything in it: no network, no other file."""
    steps = [row for row in learned.rows if row.step % 5 == 0]
    values = {
        "seconds": f"{seconds:.0f}",
        "version": hm.__version__,
        "mu": f"{learned.mu:.4f}",
        "data_mean": f"{learned.data_mean:.4f}",
        "apart": f"{abs(learned.mu - learned.data_mean):.4f}",
        "spread": f"{learned.spread:.4f}",
        "learning_figure": embedded(draw_learning, learned, 4.5, "μ approaches the mean of the data"),
        "learning_table": table(
            ("step", "μ", "population mean,<br>exact", "population mean,<br>sampled", "sample mean", "τ(μ − x̄)"),
            (
                (
                    f"{row.step}",
                    f"{row.mu:.4f}",
                    f"{row.population_exact:z.4f}",
                    f"{row.population_sampled:z.4f} ± {row.error:.4f}",
                    f"{row.sample_mean:z.4f}",
                    f"{row.closed_form:z.4f}",
                )
                for row in steps
            ),
        ),
        "spins_figure": embedded(draw_spins, spins, 2.45, "Spin fields at three temperatures"),
        "spins_table": table(
            ("βJ", "energy per site / J", "exact", "difference / error", "|magnetisation|"),
            (
                (
                    f"{row.coupling:.4f}",
                    f"{row.energy:.4f} ± {row.error:.4f}",
                    f"{row.exact:.4f}",
                    f"{(row.energy - row.exact) / row.error:.1f}",
                    f"{row.magnetisation:.3f}",
                )
                for row in spins
            ),
        ),
        "n_moments": len(moments.exact),
        "moments_largest": f"{mixed_rbm.largest(moments):.1f}",
        "moments_figure": embedded(draw_moments, moments, 5, "Sampled moments against exact ones"),
        "moments_table": compared("moment", moments),
        "n_outcomes": len(conditional.exact),
        "conditional_largest": f"{mixed_rbm.largest(conditional):.1f}",
        "conditional_figure": embedded(draw_conditional, conditional, 4, "Conditional probabilities"),
        "conditional_table": compared("outcome", conditional),
    }
    template = Template(Path(__file__).with_name("demo_report.html").read_text(encoding="utf-8"))
    path.write_text(template.substitute(values), encoding="utf-8")


def main(folder: Path = Path("demo")) -> None:
    start = time.perf_counter()
    print("1. The mean of a Gaussian, learned by contrastive divergence\n")
    learned = gaussian_mean.main()
    print("\n2. The Ising model, against Kaufman's exact energy\n")
    spins = ising.main()
    moments, conditional = mixed_rbm.moments(), mixed_rbm.conditional()
    print(f"\n3. {len(moments.exact)} moments of a mixed machine, sampled and exact:")
    print(f"   largest difference {mixed_rbm.largest(moments):.1f} standard errors")
    print(f"\n4. Clamped sampling of {len(conditional.exact)} outcomes, against their exact conditional probabilities:")
    print(f"   largest difference {mixed_rbm.largest(conditional):.1f} standard errors")

    folder.mkdir(exist_ok=True)
    picture(folder / "picture.png", learned, spins, moments, conditional)
    report(folder / "report.html", learned, spins, moments, conditional, time.perf_counter() - start)
    print(f"\n{time.perf_counter() - start:.0f} seconds. The picture: {folder / 'picture.png'}")
    print(f"The report, with every number in it: {folder / 'report.html'} (open it in a browser)")


if __name__ == "__main__":
    main()
