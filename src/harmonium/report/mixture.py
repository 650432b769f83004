"""A mixture of independent columns, by expectation maximisation: what a model of binary rows should be better than."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real
from scipy.special import logsumexp

Rows = Real[np.ndarray, "_ columns"]


class Mixture(NamedTuple):
    """p(x) = Σ_k π_k Π_i p_ki^x_i (1 - p_ki)^(1 - x_i) (Bishop 2006, §9.3.3)."""

    shares: Float[np.ndarray, " k"]
    means: Float[np.ndarray, "k columns"]

    @classmethod
    def fit(cls, rows: Rows, k: int, seed: int = 0, n_steps: int = 40) -> "Mixture":
        """The mixture after ``n_steps`` steps, from random rows; each component has seen half a 0 and half a 1 more."""
        chance, kinds = np.random.default_rng(seed), np.unique(rows, axis=0)  # components that start as one stay one
        means = 0.25 + 0.5 * kinds[chance.choice(len(kinds), k, replace=len(kinds) < k)].astype(float)
        made = cls(np.full(k, 1 / k), means)
        for _ in range(n_steps):
            joint = made._joint(rows)
            weight = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
            mass = weight.sum(axis=0)
            made = cls((mass + 1) / (mass + 1).sum(), (weight.T @ rows + 0.5) / (mass[:, None] + 1))
        return made

    @classmethod
    def best(cls, rows: Rows, held_out: Rows, sizes: tuple[int, ...]) -> "Mixture":
        """The fit with the number of components that makes other rows likeliest."""
        fits = [cls.fit(rows, k) for k in sizes]
        return max(fits, key=lambda one: float(one.log_likelihood(held_out).mean()))

    def log_likelihood(self, rows: Rows) -> Float[np.ndarray, "_"]:
        """log p(x) of each row."""
        found: np.ndarray = logsumexp(self._joint(rows), axis=1)
        return found

    def _joint(self, rows: Rows) -> Float[np.ndarray, "_ k"]:
        rows = np.asarray(rows, float)
        off = np.log1p(-self.means)
        joint: np.ndarray = np.log(self.shares) + off.sum(axis=1) + rows @ (np.log(self.means) - off).T
        return joint
