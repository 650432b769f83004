r"""A small RBM over a mixed table: moments and conditional probabilities, sampled and exact.

A row has two measurements (Gaussian), two choices among three (categorical) and three answers (0 or 1); three hidden
units join them. Small enough to sum over every hidden configuration, so that nothing here rests on sampling alone:

- *moments*: ⟨-∂E/∂θ⟩ for every parameter θ, averaged over Gibbs chains, against the sum over all configurations;
- *conditional*: the measurements and the first choice are given; what are the second choice and the three answers?
  Clamping what is known makes the same sampler draw from p(unknown | known); 24 outcomes can be listed exactly.
"""

from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import harmonium as hm


class Comparison(NamedTuple):
    """Sampled numbers with their standard errors, the exact ones, and what each is."""

    labels: list[str]
    sampled: np.ndarray
    error: np.ndarray
    exact: np.ndarray


def machine(seed: int = 0) -> hm.Machine:
    """Three visible layers of different types on one hidden layer, with weights large enough to matter."""
    layers = {
        "measured": hm.Gaussian(jnp.array([0.5, -0.5])),
        "chosen": hm.Categorical((2, 3)),
        "answered": hm.Bernoulli(3),
        "hidden": hm.Bernoulli(3),
    }
    visible = ("measured", "chosen", "answered")
    couplings = {
        (name, "hidden"): hm.Dense(0.8 * jax.random.normal(key, (*layers[name].shape, 3)))
        for name, key in zip(visible, jax.random.split(hm.key(seed), 3), strict=True)
    }
    return hm.Machine(layers, couplings, visible)


def moments(seed: int = 1, n_chains: int = 400, n_draws: int = 100) -> Comparison:
    """Every moment ⟨-∂E/∂θ⟩: the mean over chains, its standard error between chains, the exact value."""
    rbm = machine()
    draws = hm.sample(rbm, hm.key(seed), n_chains, n_draws, warm_up=200)
    by_chain = _flat(jax.vmap(rbm.statistics)(draws), leading=1)
    exact = _flat(hm.exact.statistics(rbm), leading=0)
    labels: list[str] = []
    for name, unit in zip(rbm.names, rbm.layers, strict=True):
        labels += [f"⟨{name}⟩"] * unit.bias.size
        labels += [f"⟨-½{name}²⟩"] * unit.n * isinstance(unit, hm.Gaussian)
    for coupling, (a, b) in zip(rbm.couplings, rbm.joins, strict=True):
        labels += [f"⟨{rbm.names[a]}·{rbm.names[b]}⟩"] * coupling.weights.size
    return Comparison(labels, by_chain.mean(0), by_chain.std(0, ddof=1) / np.sqrt(n_chains), exact)


def conditional(seed: int = 2, n_chains: int = 8000) -> Comparison:
    """p(second choice, answers | measurements, first choice): how often each outcome was drawn, and its probability."""
    rbm = machine()
    measured, chosen = jnp.array([1.5, -1.0]), jnp.eye(3)[2]
    outcomes = list(product(range(3), *[(0, 1)] * 3))
    choices = jnp.stack([jnp.stack([chosen, jnp.eye(3)[k]]) for k, *_ in outcomes])
    answers = jnp.array([rest for _, *rest in outcomes], float)

    every = (jnp.tile(measured, (len(outcomes), 1)), choices, answers, None)
    exact = np.asarray(jax.nn.softmax(-rbm.free_energy(every)))

    start = [jnp.repeat(x[:1], n_chains, axis=0) for x in every[:3]]
    known = jnp.tile(jnp.array([True, False]), (n_chains, 1))
    _, c, y, _ = hm.sample(
        rbm,
        hm.key(seed),
        initial=(*start, jnp.zeros((n_chains, 3))),
        clamp=(True, known, False, False),
        warm_up=200,
    )
    drawn = (c[:, 0, 1].argmax(-1) * 8 + y[:, 0] @ jnp.array([4.0, 2.0, 1.0])).astype(int)
    share = np.bincount(np.asarray(drawn), minlength=len(outcomes)) / n_chains
    labels = [f"{'ABC'[k]} {a}{b}{c}" for k, a, b, c in outcomes]
    return Comparison(labels, share, np.sqrt(exact * (1 - exact) / n_chains), exact)


def largest(found: Comparison) -> float:
    """The largest difference, in standard errors."""
    return float(np.abs((found.sampled - found.exact) / found.error).max())


def main() -> tuple[Comparison, Comparison]:
    found = moments(), conditional()
    for name, (labels, sampled, error, exact) in zip(("moment", "outcome"), found, strict=True):
        print(f"\n{name:<24}  sampled               exact    difference/error")
        for label, s, e, x in zip(labels, sampled, error, exact, strict=True):
            print(f"{label:<24} {s:8.4f} ± {e:.4f}    {x:8.4f}  {(s - x) / e:8.1f}")
    print(f"\nlargest difference: {largest(found[0]):.1f} standard errors among {len(found[0].exact)} moments,")
    print(f"{largest(found[1]):.1f} among the probabilities of {len(found[1].exact)} outcomes")
    return found


def _flat(statistics: hm.Machine, leading: int) -> np.ndarray:
    leaves = jax.tree.leaves(eqx.filter(statistics, eqx.is_inexact_array))
    return np.concatenate([np.asarray(x).reshape(*x.shape[:leading], -1) for x in leaves], axis=-1)


if __name__ == "__main__":
    main()
