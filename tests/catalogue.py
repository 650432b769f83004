"""The machines that the laws are shown on: every pair of unit types, and every kind of graph the package knows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.machine import Machine
from harmonium.units import UNITS, Unit

PAIRS = [(a, b) for a in UNITS for b in UNITS]


def pairs(*cases: object, slow: tuple[object, ...] = ()) -> pytest.MarkDecorator:
    """Every pair of unit types, in every case if there are any; most wait for `make prove`.

    `make test` has the pairs of one type and, but for the ``slow`` cases, every type on either side of Bernoulli units.
    """
    params = []
    for a, b in PAIRS:
        for case in cases or (None,):
            quick = a is b or (case not in slow and hm.Bernoulli in (a, b))
            marks = [] if quick else [pytest.mark.prove]
            values = ((a, b), case) if cases else ((a, b),)
            name = f"{a.__name__}-{b.__name__}" + (f"-{case}" if cases else "")
            params.append(pytest.param(*values, marks=marks, id=name))
    return pytest.mark.parametrize(("units", "case") if cases else ("units",), params)


def continuous(unit: type[Unit]) -> bool:
    return unit.random(hm.key(0), 1).states() is None


def pair(a: type[Unit], b: type[Unit], sizes: tuple[int, int], scale: float = 1.0, seed: int = 0) -> Machine:
    """An RBM of two unit types with weights of the given scale.

    Where both are unbounded, precisions are raised until the joint quadratic form is diagonally dominant.
    """
    keys = jax.random.split(hm.key(seed), 3)
    left, right = a.random(keys[0], sizes[0]), b.random(keys[1], sizes[1])
    weights = scale * jax.random.normal(keys[2], (*left.shape, *right.shape))
    if left.tails() is not None and right.tails() is not None:
        left = _steeper(left, 1.5 * jnp.abs(weights).sum(axis=1))
        right = _steeper(right, 1.5 * jnp.abs(weights).sum(axis=0))
    return hm.rbm(left, right, weights)


def _steeper(unit: Unit, by: jax.Array) -> Unit:
    names = [name for name in ("precision", "precision_left", "precision_right") if hasattr(unit, name)]
    return eqx.tree_at(lambda u: [getattr(u, n) for n in names], unit, [getattr(unit, n) + by for n in names])


def symmetric(key: jax.Array, n: int, k: int | None = None, scale: float = 1.0) -> jax.Array:
    """Random couplings within a layer: symmetric, zero for a unit with itself."""
    if k is None:
        upper = jnp.triu(scale * jax.random.normal(key, (n, n)), 1)
        return upper + upper.T
    full = scale * jax.random.normal(key, (n, k, n, k)) * jnp.triu(jnp.ones((n, n)), 1)[:, None, :, None]
    return full + full.transpose(2, 3, 0, 1)


def general() -> Machine:
    """A Boltzmann machine: visible and hidden units all coupled, also among themselves."""
    k = jax.random.split(hm.key(1), 5)
    return hm.boltzmann(
        hm.Bernoulli(jax.random.normal(k[0], (3,))),
        hm.Bernoulli(jax.random.normal(k[1], (2,))),
        visible_weights=symmetric(k[2], 3),
        hidden_weights=symmetric(k[3], 2),
        weights=jax.random.normal(k[4], (3, 2)),
    )


def table() -> Machine:
    """A mixed table: a binary, a categorical and a continuous visible layer, spins hidden."""
    k = jax.random.split(hm.key(2), 7)
    visible = [hm.Bernoulli.random(k[0], 1), hm.Categorical.random(k[1], 1), hm.Gaussian.random(k[2], 1)]
    weights = [0.7 * jax.random.normal(k[3 + i], (*unit.shape, 2)) for i, unit in enumerate(visible)]
    return hm.rbm(visible, hm.Spin.random(k[6], 2), weights)


def torus() -> Machine:
    return hm.ising(2, 3, coupling=0.4, field=0.1)


def deep() -> Machine:
    k = jax.random.split(hm.key(3), 5)
    units = [hm.Bernoulli.random(k[i], 2) for i in range(3)]
    return hm.deep(*units, weights=[jax.random.normal(k[3], (2, 2)), jax.random.normal(k[4], (2, 2))])


def potts() -> Machine:
    k = jax.random.split(hm.key(4), 2)
    layer = hm.Categorical.random(k[0], 3)
    return Machine({"sites": layer}, {("sites", "sites"): hm.Within(symmetric(k[1], 3, 3))})


def masked() -> Machine:
    """A chain of spins that reads off a masked matrix, joined to hidden units through a masked one."""
    k = jax.random.split(hm.key(54), 4)
    chain = np.eye(3, k=1) + np.eye(3, k=-1) > 0
    return Machine(
        {"visible": hm.Spin.random(k[0], 3), "hidden": hm.Binomial(jax.random.normal(k[1], (2,)), 2)},
        {
            ("visible", "visible"): hm.Within(symmetric(k[2], 3), chain),
            ("visible", "hidden"): hm.Dense(jax.random.normal(k[3], (3, 2)), np.array([[1, 0], [1, 1], [0, 1]])),
        },
    )


def gaussian_field() -> Machine:
    """Gaussian units coupled among themselves, with a binary layer above."""
    k = jax.random.split(hm.key(6), 3)
    return Machine(
        {"visible": hm.Gaussian(jnp.array([0.3, -0.2, 0.5]), 2.0), "hidden": hm.Bernoulli.random(k[0], 1)},
        {
            ("visible", "visible"): hm.Within(symmetric(k[1], 3, scale=0.4)),
            ("visible", "hidden"): hm.Dense(jax.random.normal(k[2], (3, 1))),
        },
    )


def coupled(machine: Machine, factor: float) -> Machine:
    """The machine with every coupling times the factor; Gaussian layers coupled within are made steep enough for it."""
    changed = eqx.tree_at(lambda m: [c.weights for c in m.couplings], machine, replace_fn=lambda w: factor * w)
    for layer, unit in enumerate(machine.layers):
        within = changed.within(layer)
        if within is not None and unit.tails() is not None:
            by = 1.5 * jnp.abs(within.matrix()).sum(axis=1)
            changed = eqx.tree_at(lambda m, layer=layer: m.layers[layer], changed, _steeper(unit, by))
    return changed


def hidden_within() -> Machine:
    """Coupled within the hidden layer only: here it is the visible layer that is summed out, and drawn first."""
    keys = jax.random.split(hm.key(7), 4)
    return Machine(
        {"visible": hm.Bernoulli.random(keys[0], 3), "hidden": hm.Spin.random(keys[1], 3)},
        {
            ("visible", "hidden"): hm.Dense(jax.random.normal(keys[2], (3, 3))),
            ("hidden", "hidden"): hm.Within(symmetric(keys[3], 3)),
        },
    )


GRAPHS = {f.__name__: f for f in (general, table, torus, deep, potts, masked, gaussian_field)}
PATTERN = jnp.array([1.0, -1] * 5)


def two_modes() -> Machine:
    """Ten spins that follow a pattern (with probability 0.73) or its opposite: from one to the other no chain finds.

    A hidden unit sees an input of ±15, and flips against it once in 10¹³ sweeps.
    """
    return hm.rbm(hm.Spin(0.05 * PATTERN), hm.Spin(2), 1.5 * jnp.outer(PATTERN, jnp.ones(2)))


DISCRETE_GRAPHS = ["general", "torus", "deep", "potts", "masked"]
