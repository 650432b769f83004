r"""Annealed importance sampling: log Z of any machine, from chains that start in one without couplings.

With θ₀ the parameters of that base, whose log Z is a sum of cgfs, θ_β = (1-β)θ₀ + βθ is a machine for every β, since
the energy is linear in the parameters; what a layer receives in it is β times what it receives in θ. A chain starts
at an exact draw of the base and makes one Gibbs sweep at each β of a ladder 0 = β₀ < β₁ < … < 1; then

    w = Z₀ Πₜ exp(F_βₜ(xₜ) - F_βₜ₊₁(xₜ)),    ⟨w⟩ = Z,

with F summed over layers that do not touch each other (Neal 2001; Salakhutdinov & Murray 2008, §4.1). Those layers are
the first to be drawn in the sweep that follows, from the very inputs that F is made of: a step of an RBM costs two
matrix products.

The mean of w has no bias, so that the log of it is too small on average: with few chains, or a ladder with too few
steps, the estimate is more often below log Z than above, and by more than the standard error says.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from harmonium.errors import ArgumentError
from harmonium.machine import Known, Machine, State
from harmonium.path import base_machine, between, lifted
from harmonium.sampling import gibbs
from harmonium.units.unit import Values, known


class Annealed(eqx.Module):
    """The weights of the chains: independent estimates of Z, each without bias."""

    log_weights: Float[Array, " chain"]

    @property
    def estimate(self) -> Float[Array, ""]:
        """log Z: the log of the mean weight."""
        return jax.nn.logsumexp(self.log_weights) - jnp.log(self.log_weights.size)

    @property
    def standard_error(self) -> Float[Array, ""]:
        """That of the estimate, by the delta method: the standard error of the mean weight over the mean weight."""
        return jnp.std(self._relative(), ddof=1) / jnp.sqrt(self.log_weights.size)

    @property
    def ess(self) -> Float[Array, ""]:
        """The effective number of chains, (Σw)²/Σw²; near 1 the estimate, and its error, stand on one chain."""
        return self.log_weights.size / jnp.mean(self._relative() ** 2)

    def _relative(self) -> Float[Array, " chain"]:
        return jnp.exp(self.log_weights - self.estimate)


def log_partition(
    machine: Machine,
    key: Key[Array, ""],
    *,
    n_chains: int = 100,
    n_temperatures: int = 1000,
    base: Machine | None = None,
    ladder: Values | None = None,
) -> Annealed:
    """An estimate of log Z. ``base`` is by default ``base_machine(machine)``.

    ``ladder``, the inverse temperatures from 0 to 1 in order, replaces the usual one of ``n_temperatures`` steps.

    >>> import harmonium as hm
    >>> machine = hm.rbm(hm.Bernoulli(3), hm.Bernoulli(2))  # zero weights: Z = 2⁵
    >>> round(float(log_partition(machine, hm.key(0)).estimate), 4)
    3.4657
    """
    for name, value, least in (("n_chains", n_chains, 2), ("n_temperatures", n_temperatures, 1)):
        if value < least:
            raise ArgumentError(name, f"{value}", f"at least {least}")
    machine.require_normalisable()
    base = base_machine(machine) if base is None else base
    _require_base(base, machine)
    betas = _usual_ladder(n_temperatures) if ladder is None else jnp.asarray(ladder, float)
    _require_ladder(betas)
    return Annealed(_log_weights(key, machine, base, betas.astype(machine.layers[0].bias.dtype), n_chains))


def _usual_ladder(n_temperatures: int) -> Array:
    """β = u(2 - u) for u from 0 to 1: the steps shrink towards β = 1, where chains of a learned machine mix slowest."""
    u = jnp.linspace(0, 1, n_temperatures + 1)
    return u * (2 - u)


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
def _log_weights(key: Key[Array, ""], machine: Machine, base: Machine, betas: Array, n_chains: int) -> Array:
    summed = machine.summable()
    order = (*summed, *(layer for layer in machine.order if layer not in summed))
    start_key, step_key = jax.random.split(key)

    def step(carry: tuple[State, Array], rung: tuple[Array, Array, Array]) -> tuple[tuple[State, Array], None]:
        (state, log_weights), (t, before, after) = carry, rung
        given = tuple(None if layer in summed else x for layer, x in enumerate(state))
        log_weights = log_weights + _increment(machine, base, given, before, after)
        state = _swept(jax.random.fold_in(step_key, t), machine, base, state, after, order)
        return (state, log_weights), None

    log_z = sum(jnp.sum(unit.cgf(jnp.zeros_like(unit.bias))) for unit in base.layers)
    start = gibbs.init(start_key, base, n_chains), jnp.full(n_chains, log_z)
    rungs = jnp.arange(len(betas) - 1), betas[:-1], betas[1:]
    log_weights: Array = jax.lax.scan(step, start, rungs)[0][1]
    return log_weights


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
    return gibbs.step(key, lifted(base, machine, beta), state, beta=beta, order=order)[0]
