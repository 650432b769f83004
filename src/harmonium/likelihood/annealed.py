r"""Annealed importance sampling, up and down: weights without bias whose mean is Z, or 1/Z, for any machine.

With θ₀ the parameters of a base without couplings, whose log Z is a sum of cgfs, θ_β = (1-β)θ₀ + βθ is a machine for
every β, since the energy is linear in the parameters. Up, a chain starts at an exact draw of the base and makes one
Gibbs sweep at each β of a ladder 0 = β₀ < β₁ < … < 1; with F summed over layers that do not touch each other,

    w = Z₀ Πₜ exp(F_βₜ(xₜ) - F_βₜ₊₁(xₜ)),    ⟨w⟩ = Z

(Neal 2001; Salakhutdinov & Murray 2008, §4.1). Down, the same chain on the reversed ladder starts at a draw of the
machine: ⟨w⟩ = 1/Z (Burda, Grosse & Salakhutdinov 2015). So log w is on average below log Z on the way up, and -log w
above it on the way down. Down, this holds only if the chains start at exact draws. If they start at x ~ q instead,

    ⟨w⟩ = Σₓ q(x) a(x)/p(x) / Z,

with a the distribution in which chains on their way up arrive (in the reversed order of updates): a chain that starts
where the way up does not lead, though p does, has too small a weight, and puts log Z too high. Nothing else sees that.

The layers summed out are the first to be drawn in the sweep that follows, from the very inputs that F is made of: a
step of an RBM costs two matrix products.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from harmonium.errors import ArgumentError
from harmonium.likelihood.importance import Weights
from harmonium.machine import Known, Machine, State
from harmonium.path import base_machine, between, lifted
from harmonium.sampling import gibbs
from harmonium.units.unit import Values, known

STRETCHES = 32
"""Parts of the way whose log weights are kept apart: short sums lose few digits, and say where the variance arises."""


class Path(eqx.Module):
    """The way from a base to a machine: ``ladder`` has β at equal distances of u from 0 to 1, and is linear between."""

    machine: Machine
    base: Machine
    ladder: Float[Array, " knots"]

    def beta(self, u: Scalar) -> Scalar:
        """The inverse temperature at u."""
        return jnp.interp(u, jnp.linspace(0, 1, len(self.ladder)), self.ladder).astype(self.ladder.dtype)

    @property
    def log_base(self) -> Float[Array, ""]:
        """log Z₀."""
        return sum((jnp.sum(unit.cgf(jnp.zeros_like(unit.bias))) for unit in self.base.layers), jnp.zeros(()))


def log_partition(
    machine: Machine,
    key: Key[Array, ""],
    *,
    n_chains: int = 100,
    n_temperatures: int = 1000,
    base: Machine | None = None,
    ladder: Values | None = None,
) -> Weights:
    """Weights whose mean is Z, from chains on their way up. ``base`` is by default ``base_machine(machine)``.

    ``ladder``, the inverse temperatures from 0 to 1 in order, replaces the usual one; the ``n_temperatures`` steps
    divide it evenly.

    >>> import harmonium as hm
    >>> machine = hm.rbm(hm.Bernoulli(3), hm.Bernoulli(2))  # zero weights: Z = 2⁵
    >>> round(float(log_partition(machine, hm.key(0)).estimate), 4)
    3.4657
    """
    for name, value, least in (("n_chains", n_chains, 2), ("n_temperatures", n_temperatures, 1)):
        if value < least:
            raise ArgumentError(name, f"{value}", f"at least {least}")
    path = path_to(machine, base, ladder)
    start_key, key = jax.random.split(key)
    start = gibbs.init(start_key, path.base, n_chains)
    log_weights, _ = anneal(key, path, start, jnp.asarray(n_temperatures), jnp.asarray(False))
    return Weights(jnp.sum(log_weights, axis=1))


def path_to(machine: Machine, base: Machine | None = None, ladder: Values | None = None) -> Path:
    """The path to a machine, by default from ``base_machine(machine)`` on the usual ladder.

    On the usual ladder β = u(2 - u): steps shrink towards β = 1, where chains of a learned machine mix slowest.
    """
    machine.require_normalisable()
    base = base_machine(machine) if base is None else base
    _require_base(base, machine)
    u = jnp.linspace(0, 1, STRETCHES + 1)
    betas = u * (2 - u) if ladder is None else jnp.asarray(ladder, float)
    _require_ladder(betas)
    return Path(machine, base, betas.astype(machine.layers[0].bias.dtype))


def _require_base(base: Machine, machine: Machine) -> None:
    shapes, wanted = ([(type(unit).__name__, unit.shape) for unit in m.layers] for m in (base, machine))
    if shapes != wanted:
        raise ArgumentError("base", f"layers {shapes}", f"{wanted}, those of the machine")
    if any(known(c.weights) and bool(jnp.any(c.matrix() != 0)) for c in base.couplings):
        raise ArgumentError("base", "couplings that are not zero", "none (see base_machine): its log Z must be known")


def _require_ladder(betas: Array) -> None:
    if betas.ndim != 1 or len(betas) < 2:
        raise ArgumentError("ladder", f"shape {betas.shape}", "at least the two inverse temperatures 0 and 1")
    if known(betas) and not (betas[0] == 0 < betas[1] and betas[-1] == 1 and bool(jnp.all(jnp.diff(betas) >= 0))):
        raise ArgumentError("ladder", f"values from {betas[0]} to {betas[-1]}", "0 to 1 in order, the 0 once")


@eqx.filter_jit
def anneal(
    key: Key[Array, ""], path: Path, start: State, n_steps: Int[Array, ""], down: Bool[Array, ""]
) -> tuple[Float[Array, "chain stretches"], State]:
    """The log weights of chains from ``start``, stretch by stretch of the path, and where they end.

    Their sum over the stretches is the log of an estimate of Z or, ``down``, of 1/Z.
    """
    machine, base = path.machine, path.base
    summed = machine.summable()
    order = (*summed, *(layer for layer in machine.order if layer not in summed))

    def beta(place: Array) -> Array:
        return path.beta(jnp.where(down, n_steps - place, place) / n_steps)

    def step(t: Array, carry: tuple[State, Array]) -> tuple[State, Array]:
        state, log_weights = carry
        given = tuple(None if layer in summed else x for layer, x in enumerate(state))
        log_weights = log_weights + _increment(machine, base, given, beta(t), beta(t + 1))
        return _swept(jax.random.fold_in(key, t), machine, base, state, beta(t + 1), order), log_weights

    def stretch(state: State, number: Array) -> tuple[State, Array]:
        first, last = (n_steps * (number + end) // STRETCHES for end in (0, 1))
        reached: tuple[State, Array] = jax.lax.fori_loop(first, last, step, (state, base_share))
        return reached

    sign = jnp.where(down, -1, 1)
    base_share = jnp.full(len(start[0]), sign * path.log_base / STRETCHES, path.ladder.dtype)
    state, log_weights = jax.lax.scan(stretch, start, jnp.arange(STRETCHES))
    return jnp.where(down, log_weights[::-1], log_weights).T, state


def _increment(machine: Machine, base: Machine, given: Known, before: Array, after: Array) -> Array:
    """F at β = ``before`` less F at β = ``after``, layer by layer: a difference of two sums would lose digits."""
    total = jnp.zeros((), before.dtype)
    for layer, (unit, alone, x) in enumerate(zip(machine.layers, base.layers, given, strict=True)):
        if x is None:
            inputs = machine.inputs_from_others(given, layer)
            cgfs = [between(alone, unit, beta).cgf(beta * inputs) for beta in (before, after)]
            total = total + jnp.sum(cgfs[1] - cgfs[0], axis=-1)
        else:
            total = total + (after - before) * (alone.energy(x) - unit.energy(x))
    for coupling, (a, b) in zip(machine.couplings, machine.joins, strict=True):
        x, y = given[a], given[b]
        if x is not None and y is not None:
            product = jnp.sum(coupling.forward(x.reshape(len(x), -1)) * y.reshape(len(y), -1), axis=-1)
            total = total + (after - before) * product / (2 if a == b else 1)
    return total


def _swept(
    key: Key[Array, ""], machine: Machine, base: Machine, state: State, beta: Array, order: tuple[int, ...]
) -> State:
    """One sweep at θ_β, written as β times a machine with the couplings of θ.

    So the inputs of the layers drawn first are, to the compiler, those of ``_increment``: the same product, made once.
    """
    beta = jnp.maximum(beta, 1e-9)  # the way down ends at 0; the last sweep is not weighed
    return gibbs.step(key, lifted(base, machine, beta), state, beta=beta, order=order)[0]
