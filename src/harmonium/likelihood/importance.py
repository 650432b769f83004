r"""Monte Carlo and importance sampling: expectations of any function of a machine's states, and their errors.

    s = Σₓ p(x) f(x) = Σₓ q(x) [p(x)/q(x)] f(x)

From draws of p the mean of f has no bias, and the variance var_p(f)/n. From draws of a proposal q the mean of (p/q)f
has no bias either; its variance is least for q in proportion to p·|f|, and zero if besides f keeps one sign. Where p or
q is known up to a factor only, weights are divided by their sum (self-normalised): the bias of that vanishes as 1/n.
(Goodfellow, Bengio & Courville 2016, §17.1-17.2.)
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from harmonium.errors import ArgumentError
from harmonium.units.unit import Values


class Estimate(NamedTuple):
    """A mean over draws, its standard error, and the number of independent draws that would be worth as much."""

    value: Float[Array, "..."]
    standard_error: Float[Array, "..."]
    ess: Float[Array, ""]


def expectation(values: Values, log_weights: Values | None = None, *, normalised: bool = False) -> Estimate:
    """⟨f⟩ under p from ``values`` f(x) at independent draws x of q, ``(draw, …)``, and ``log_weights`` log p(x)/q(x).

    Without weights q is p. The weights may lack a factor (log p and log q may each be -E, without log Z): they are
    divided by their mean, and the error is that of a ratio, by the delta method. If both p and q are ``normalised``
    the mean of (p/q)f is taken as it is, without bias.

    >>> import harmonium as hm, jax.numpy as jnp
    >>> machine, wanted = (hm.ising(3, coupling=K) for K in (0.0, 0.5))
    >>> (x,) = hm.exact.sample(hm.key(0), machine, 100_000)
    >>> found = expectation(x[:, 0] * x[:, 1], machine.energy((x,)) - wanted.energy((x,)))
    >>> t = jnp.tanh(0.5)
    >>> bool(abs(found.value - (t + t**2) / (1 + t**3)) < 4 * found.standard_error)
    True
    """
    values = jnp.asarray(values)
    n = len(values)
    if n < 2:
        raise ArgumentError("values", f"{n} of them", "at least two: the error is found from how they differ")
    log_weights = jnp.zeros(n, values.dtype) if log_weights is None else jnp.asarray(log_weights)
    if log_weights.shape != (n,):
        raise ArgumentError("log_weights", f"shape {log_weights.shape}", f"{(n,)}, one for each of the values")
    relative = jnp.exp(log_weights - _log_mean(log_weights))
    w = (jnp.exp(log_weights) if normalised else relative).reshape(n, *[1] * (values.ndim - 1))
    value = jnp.mean(w * values, axis=0)
    spread = w * values if normalised else w * (values - value[None])
    return Estimate(value, jnp.std(spread, axis=0, ddof=1) / jnp.sqrt(n), n / jnp.mean(relative**2))


class Weights(eqx.Module):
    """Independent estimates of a positive number (such as Z) without bias, by their logs: their mean is looked at."""

    log_weights: Float[Array, " chain"]

    @property
    def estimate(self) -> Float[Array, ""]:
        """The log of the mean weight: on average below the log of the number, by about half its variance."""
        return _log_mean(self.log_weights)

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


def _log_mean(log_weights: Array) -> Array:
    return jax.nn.logsumexp(log_weights) - jnp.log(log_weights.size)
