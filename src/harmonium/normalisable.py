r"""When ∫exp(-E) is finite: the energy must grow in every direction in which the configuration can go to infinity.

Far out only the quadratic part of the energy counts, Q(x) = ½Σᵢ γᵢ(sign xᵢ) xᵢ² - ½ Σᵢⱼ Jᵢⱼ xᵢxⱼ, over the units whose
values are unbounded; J holds their couplings. The machine is normalisable if Q(x) > 0 for every x ≠ 0 its units
allow. For Gaussian units: the matrix diag(γ) - J is positive definite. For units on a half line: that matrix is
strictly copositive (positive on x ≥ 0). A mix: the Gaussian units are first minimised out, by a Schur complement.
"""

import warnings

import numpy as np
from jaxtyping import Bool, Float

from harmonium.errors import NotNormalisableError

Matrix = Float[np.ndarray, "n n"]
Vector = Float[np.ndarray, " n"]


def require_normalisable(left: Vector, right: Vector, couplings: Matrix, names: str) -> None:
    """Raise ``NotNormalisableError`` unless Q > 0, given γ to the left and right (inf where x cannot go) and J."""
    coupled = np.abs(couplings).sum(axis=1) > 0
    if not coupled.any():
        return
    left, right, couplings = left[coupled], right[coupled], couplings[np.ix_(coupled, coupled)]

    free = left == right
    inner = np.diag(right[free]) - couplings[np.ix_(free, free)]
    smallest = float(np.linalg.eigvalsh(inner).min()) if free.any() else np.inf
    if smallest <= 0:
        raise NotNormalisableError(
            f"{names} cannot be normalised: the joint precision matrix of the units on the real line, diag(precision) "
            f"minus their couplings, must be positive definite, but has the eigenvalue {smallest:.6g}. "
            "Shrink the weights or raise the precisions."
        )

    unit, sign, gamma = _half_lines(left, right, ~free)
    half = np.diag(gamma) - np.outer(sign, sign) * couplings[np.ix_(unit, unit)]
    cross = sign[:, None] * couplings[np.ix_(unit, np.flatnonzero(free))]
    half = half - cross @ np.linalg.solve(inner, cross.T)
    # The two sides of one unit are never both taken, so their cross term may be as large as we please.
    same = (unit[:, None] == unit) & ~np.eye(len(unit), dtype=bool)
    half[same] = np.abs(half).sum()
    verdict = _strictly_copositive(half)
    if verdict is None:
        warnings.warn(
            f"{names}: whether the machine can be normalised could not be decided; "
            "samples that run off to infinity mean that it cannot. Smaller weights make it certain.",
            RuntimeWarning,
            stacklevel=2,
        )
    elif not verdict:
        raise NotNormalisableError(
            f"{names} cannot be normalised: diag(precision) minus the couplings must be strictly copositive "
            "(xᵀMx > 0 for every x that the units can take), but along some direction the energy falls without end. "
            "Shrink the weights or raise the precisions."
        )


def _half_lines(left: Vector, right: Vector, some: Bool[np.ndarray, " n"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each half line a unit can go out on: the unit's index, the sign, γ."""
    sides = [(i, s, g[i]) for i in np.flatnonzero(some) for s, g in ((1.0, right), (-1.0, left)) if np.isfinite(g[i])]
    unit, sign, gamma = zip(*sides, strict=True) if sides else ((), (), ())
    return np.array(unit, int), np.array(sign, float), np.array(gamma, float)


def _strictly_copositive(matrix: Matrix, budget: int = 5000) -> bool | None:
    """Whether xᵀMx > 0 for all x ≥ 0, x ≠ 0; None if the budget ends first.

    Cutting the simplex in two along the edge with the most negative entry, until all entries of VᵀMV are positive on
    every piece V, or a corner with vᵀMv ≤ 0 is found (Bundfuss & Dür 2008).
    """
    if not len(matrix):
        return True
    off = ~np.eye(len(matrix), dtype=bool)
    without_help = np.where(off, np.minimum(matrix, 0), matrix)
    if np.linalg.eigvalsh(without_help).min() > 0 or np.linalg.eigvalsh(matrix).min() > 0:
        return True
    pieces = [np.eye(len(matrix))]
    for _ in range(budget):
        if not pieces:
            return True
        corners = pieces.pop()
        form = corners.T @ matrix @ corners
        if np.diag(form).min() <= 0:
            return False
        scaled = np.where(off, form / np.sqrt(np.outer(np.diag(form), np.diag(form))), 0)
        i, j = np.unravel_index(scaled.argmin(), scaled.shape)
        if scaled[i, j] >= 0:
            continue
        # The lowest point of the form along the edge, kept off its ends so that pieces shrink.
        where = (form[j, j] - form[i, j]) / (form[i, i] + form[j, j] - 2 * form[i, j])
        where = min(max(where, 0.1), 0.9)
        for k in (i, j):
            piece = corners.copy()
            piece[:, k] = where * corners[:, i] + (1 - where) * corners[:, j]
            pieces.append(piece)
    return None
