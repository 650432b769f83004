"""The truth, by brute force: energies term by term from the textbook, sums over every configuration, mpmath for tails.

Shares no formula with the package: only parameters are read off a machine, and everything is computed anew, in extended
precision where sums cancel. Of a unit type that is not written down here (one just added), it takes the energy, which
defines the type, and sums or integrates that.
"""

import itertools
import math

import mpmath as mp
import numpy as np

from harmonium.machine import Machine

mp.mp.dps = 60

KNOWN = ("Bernoulli", "Spin", "Binomial", "Categorical", "Gaussian", "Rectified", "DualRectified")


def values(unit) -> list:
    """All values of one unit of a discrete layer."""
    kind = type(unit).__name__
    if kind == "Bernoulli":
        return [0.0, 1.0]
    if kind == "Spin":
        return [-1.0, 1.0]
    if kind == "Binomial":
        return [float(x) for x in range(unit.trials + 1)]
    if kind == "Categorical":
        return [tuple(float(i == k) for i in range(unit.bias.shape[1])) for k in range(unit.bias.shape[1])]
    assert kind not in KNOWN
    return np.asarray(unit.states(), float).tolist()


def discrete(unit) -> bool:
    kind = type(unit).__name__
    return kind in ("Bernoulli", "Spin", "Binomial", "Categorical") if kind in KNOWN else unit.states() is not None


def layer_energy(unit, x: np.ndarray) -> float:
    """Minus the log weight of one configuration of a layer."""
    kind = type(unit).__name__
    if kind not in KNOWN:
        return float(unit.energy(np.asarray(x, float)))
    b = np.asarray(unit.bias, np.longdouble)
    energy = -np.sum(b * x)
    if kind == "Binomial":
        energy -= sum(np.log(np.longdouble(math.comb(unit.trials, int(value)))) for value in x)
    if kind in ("Gaussian", "Rectified"):
        energy += np.sum(np.asarray(unit.precision, np.longdouble) * x**2) / 2
    if kind == "DualRectified":
        for i, value in enumerate(x):
            precision = unit.precision_right[i] if value > 0 else unit.precision_left[i]
            energy += float(precision) * value**2 / 2 - float(unit.kink[i]) * abs(value)
    return energy


def energy(machine: Machine, state) -> float:
    """E of one configuration, a tuple of one array a layer without a batch axis: each pair of units once."""
    total = sum(layer_energy(unit, np.asarray(x, np.longdouble)) for unit, x in zip(machine.layers, state, strict=True))
    for coupling, (a, b) in zip(machine.couplings, machine.joins, strict=True):
        x, y = (np.asarray(state[layer], np.longdouble) for layer in (a, b))
        if hasattr(coupling, "edges"):
            weights = np.asarray(coupling.weights, np.longdouble)
            total -= sum(w * x[i] * x[j] for w, (i, j) in zip(weights, np.asarray(coupling.edges), strict=True))
            continue
        weights = np.asarray(coupling.weights, np.longdouble)
        mask = np.ones(weights.shape) if coupling.mask is None else np.asarray(coupling.mask)
        for i in range(len(x)):
            for j in range(i + 1 if a == b else 0, len(y)):
                if a == b and not mask[i, j]:
                    continue
                if x.ndim == 2 and a == b:
                    total -= x[i] @ weights[i, :, j] @ y[j]
                elif a == b:
                    total -= weights[i, j] * x[i] * y[j]
                else:
                    block = (weights * mask)[i][..., j] if y.ndim == 1 else (weights * mask)[i][..., j, :]
                    total -= (
                        np.sum(x[i][..., None] * block * y[j]) if x.ndim == y.ndim == 2 else np.sum(x[i] * block * y[j])
                    )
    return total


def configurations(unit) -> list[np.ndarray]:
    """All configurations of a discrete layer."""
    return [np.array(c) for c in itertools.product(values(unit), repeat=unit.n)]


def joint(machine: Machine) -> tuple[list, np.ndarray]:
    """All configurations of a discrete machine and their energies."""
    states = list(itertools.product(*(configurations(unit) for unit in machine.layers)))
    return states, np.array([energy(machine, state) for state in states], np.longdouble)


def log_sum_exp(terms: np.ndarray) -> float:
    terms = np.asarray(terms, np.longdouble)
    return terms.max() + np.log(np.sum(np.exp(terms - terms.max())))


def field(machine: Machine, state, layer: int, other: int) -> np.ndarray:
    """bias + what ``other`` sends to ``layer``, by loops over the textbook's Σ_i W_ij x_i."""
    (coupling,) = [c for c, j in zip(machine.couplings, machine.joins, strict=True) if set(j) == {layer, other}]
    weights = np.asarray(coupling.weights, np.longdouble)
    (left, _) = next(j for j in machine.joins if set(j) == {layer, other})
    source = np.asarray(state[other], np.longdouble)
    first, second = (source, weights) if left == other else (weights, source)
    received = np.tensordot(first, second, axes=source.ndim)
    return np.asarray(machine.layers[layer].bias, np.longdouble) + received


def _half_normal(theta, gamma):
    """log ∫₀^∞ exp(θx - ½γx²), mean, second moment, in mpmath."""
    theta, gamma = mp.mpf(float(theta)), mp.mpf(float(gamma))
    t = theta / mp.sqrt(gamma)
    with mp.workdps(60 + int(2 * mp.log10(1 + abs(t)) * 2)):
        tail = mp.erfc(-t / mp.sqrt(2))
        log_integral = mp.log(mp.sqrt(mp.pi / (2 * gamma))) + t * t / 2 + mp.log(tail)
        hazard = mp.sqrt(2 / mp.pi) * mp.exp(-t * t / 2) / tail
        mean = (t + hazard) / mp.sqrt(gamma)
        second = (1 + t * (t + hazard)) / gamma
    return log_integral, mean, second


def unit_moments(unit, i: int, theta):
    """log Σ_x m(x) exp(-E(x) + Ix), mean and variance of unit i with b + I = θ, in mpmath."""
    kind = type(unit).__name__
    if kind not in KNOWN:
        return _moments_of_energy(unit, i, theta)
    if kind == "Gaussian":
        gamma, theta = mp.mpf(float(unit.precision[i])), mp.mpf(float(theta))
        return theta**2 / (2 * gamma) + mp.log(2 * mp.pi / gamma) / 2, theta / gamma, 1 / gamma
    if kind == "Rectified":
        log_z, mean, second = _half_normal(theta, unit.precision[i])
        return log_z, mean, second - mean**2
    if kind == "DualRectified":
        kink = float(unit.kink[i])
        right = _half_normal(np.longdouble(kink) + theta, unit.precision_right[i])
        left = _half_normal(np.longdouble(kink) - theta, unit.precision_left[i])
        top = max(right[0], left[0])
        log_z = top + mp.log(mp.exp(right[0] - top) + mp.exp(left[0] - top))
        p, q = mp.exp(right[0] - log_z), mp.exp(left[0] - log_z)
        mean = p * right[1] - q * left[1]
        return log_z, mean, p * right[2] + q * left[2] - mean**2
    theta = np.atleast_1d(theta)
    bias = np.atleast_1d(np.asarray(unit.bias[i], np.longdouble))
    states = [np.atleast_1d(np.asarray(v, np.longdouble)) for v in values(unit)]
    shift = theta - bias  # what is added to the unit's own energy
    logs = []
    for x in states:
        base = math.log(math.comb(unit.trials, int(x[0]))) if kind == "Binomial" else 0.0
        logs.append(
            mp.mpf(base) + sum(mp.mpf(float(b + s)) * mp.mpf(float(v)) for b, s, v in zip(bias, shift, x, strict=True))
        )
    top = max(logs)
    log_z = top + mp.log(sum(mp.exp(value - top) for value in logs))
    weights = [mp.exp(value - log_z) for value in logs]
    size = range(len(bias))
    mean = [sum(w * float(x[k]) for w, x in zip(weights, states, strict=True)) for k in size]
    variance = [sum(w * (float(x[k]) - mean[k]) ** 2 for w, x in zip(weights, states, strict=True)) for k in size]
    if kind != "Categorical":
        return log_z, mean[0], variance[0]
    return log_z, mean, variance


def _moments_of_energy(unit, i: int, theta):
    """The same for any type, from its energy alone: over all states, or Gauss-Legendre points of its support."""
    one = unit.at(np.array([i]))
    shift = np.asarray(theta, float) - np.asarray(unit.bias[i], float)
    if discrete(unit):
        x, log_weights = np.asarray(unit.states(), float), 0.0
    else:
        low, high = (float(np.clip(end, -60, 60)) for end in unit.support)
        edges = np.linspace(low, high, 400)
        points, weights = np.polynomial.legendre.leggauss(24)
        middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        x, log_weights = (middle[:, None] + half[:, None] * points).ravel(), np.log(half[:, None] * weights).ravel()
    logs = np.asarray(-np.asarray(one.energy(x[:, None])) + log_weights, np.longdouble) + (
        x * shift if x.ndim == 1 else x @ shift
    )
    log_z = log_sum_exp(logs)
    chance = np.exp(logs - log_z)
    mean = np.tensordot(chance, x, axes=1)
    return log_z, mean, np.tensordot(chance, (x - mean) ** 2, axes=1)


def gaussian_parts(machine: Machine, state, layers) -> tuple:
    """E as a function of the given Gaussian layers, c - l·x + ½xᵀΛx, read off its values: c, l, Λ in mpmath."""
    widths = [machine.layers[layer].n for layer in layers]
    size = sum(widths)

    def at(x):
        parts = np.split(np.asarray(x, np.longdouble), np.cumsum(widths)[:-1])
        full = list(state)
        for layer, part in zip(layers, parts, strict=True):
            full[layer] = part
        return mp.mpf(str(np.longdouble(energy(machine, full))))

    unit = np.eye(size)
    here = at(np.zeros(size))
    ahead, behind = [at(e) for e in unit], [at(-e) for e in unit]
    linear = mp.matrix([(b - a) / 2 for a, b in zip(ahead, behind, strict=True)])
    curved = mp.matrix(size, size)
    for i in range(size):
        curved[i, i] = ahead[i] + behind[i] - 2 * here
        for j in range(i):
            curved[i, j] = curved[j, i] = at(unit[i] + unit[j]) - ahead[i] - ahead[j] + here
    return here, linear, curved


def log_partition_with_gaussians(machine: Machine):
    """log Z of any machine whose continuous layers are Gaussian: all of them integrated, the rest listed."""
    layers = [layer for layer, unit in enumerate(machine.layers) if not discrete(unit)]
    assert all(type(machine.layers[layer]).__name__ == "Gaussian" for layer in layers)
    rest = [configurations(unit) if discrete(unit) else [None] for unit in machine.layers]
    terms = []
    for state in itertools.product(*rest):
        here, linear, curved = gaussian_parts(machine, state, layers)
        size = len(linear)
        quadratic = (linear.T * mp.lu_solve(curved, linear))[0]
        terms.append(quadratic / 2 - mp.log(mp.det(curved)) / 2 + size * mp.log(2 * mp.pi) / 2 - here)
    top = max(terms)
    return top + mp.log(sum(mp.exp(term - top) for term in terms))


def log_partition(machine: Machine):
    """log Z of a two-layer machine of any units, or of any machine of discrete units."""
    if all(discrete(unit) for unit in machine.layers):
        return log_sum_exp(-joint(machine)[1])
    a, b = machine.layers
    if discrete(a) or discrete(b):
        listed, closed = (0, 1) if discrete(a) else (1, 0)
        terms = []
        for x in configurations(machine.layers[listed]):
            state = [None, None]
            state[listed] = x
            thetas = field(machine, state, closed, listed)
            logs = [unit_moments(machine.layers[closed], i, theta)[0] for i, theta in enumerate(thetas)]
            terms.append(mp.mpf(float(-layer_energy(machine.layers[listed], x.astype(np.longdouble)))) + sum(logs))
        top = max(terms)
        return top + mp.log(sum(mp.exp(term - top) for term in terms))
    if type(a).__name__ == type(b).__name__ == "Gaussian":
        return log_partition_with_gaussians(machine)
    return _quadrature(machine)


def _quadrature(machine: Machine):
    """Two continuous layers, the second of one unit: mpmath's quadrature over it of the first in closed form."""
    a, b = machine.layers
    assert b.n == 1
    low, high = (0 if type(b).__name__ == "Rectified" else -12, 12)
    if type(b).__name__ not in KNOWN:
        low, high = (float(np.clip(end, -12, 12)) for end in b.support)

    def log_density(y):
        state = [None, np.array([np.longdouble(float(y))])]
        thetas = field(machine, state, 0, 1)
        value = sum(unit_moments(a, i, theta)[0] for i, theta in enumerate(thetas))
        return value - mp.mpf(float(layer_energy(b, state[1])))

    grid = np.linspace(low, high, 97)
    logs = [log_density(y) for y in grid]
    top = max(logs)
    inside = [y for y, value in zip(grid, logs, strict=True) if value > top - 60]
    # Panels no longer than the grid's step, over what matters, with Gauss-Legendre in double precision on each.
    points, weights = np.polynomial.legendre.leggauss(24)
    step = grid[1] - grid[0]
    edges = np.unique(np.clip(np.arange(inside[0] - step, inside[-1] + 2 * step, step), low, high))
    if low < 0 < high:
        edges = np.union1d(edges, [0.0])
    total = mp.mpf(0)
    for left, right in itertools.pairwise(edges):
        for point, weight in zip(points, weights, strict=True):
            y = (left + right) / 2 + (right - left) / 2 * point
            total += mp.mpf(float(weight * (right - left) / 2)) * mp.exp(log_density(y) - top)
    return top + mp.log(total)
