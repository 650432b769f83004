r"""The mean of a Gaussian by contrastive divergence: the smallest whole example of learning.

The density is p(x) = f(x)/Z with f(x) = exp(-½τ(x - μ)²); the precision τ is known, the mean μ is not. The gradient
of L(μ) = -(1/N) Σᵢ log p(xᵢ) is a population mean less a sample mean of the score ∂log f/∂μ = τ(x - μ):

    ∂L/∂μ = ⟨τ(x - μ)⟩_model - (1/N) Σᵢ τ(xᵢ - μ) = τ(μ - x̄),

and descending it, μ ← μ - η ∂L/∂μ, leads to x̄. The population mean is 0 in closed form; contrastive divergence does
not know that and estimates it from draws: one Gibbs step from each data point. With a single layer there is nothing
to condition on, so one step already gives independent draws, and the estimate has standard error √(τ/N).

The unit's own parameter is the natural one, b = τμ, whose statistic -∂E/∂b is x. By the chain rule
∂/∂μ = (∂b/∂μ) ∂/∂b = τ ∂/∂b; log f also holds -½τμ², which adds -τμ to either mean and leaves the difference.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

import harmonium as hm


class Row(NamedTuple):
    """One line of the table: μ, and what was found there."""

    step: int
    mu: float
    population_exact: float
    population_sampled: float
    error: float
    sample_mean: float
    closed_form: float


class Learned(NamedTuple):
    """The learned mean, that of the data, the standard deviation of their difference, and the table."""

    mu: float
    data_mean: float
    spread: float
    rows: list[Row]


def main(tau: float = 4.0, n_data: int = 1000, n_steps: int = 60, rate: float = 0.05, seed: int = 1) -> Learned:
    data_key, chain_key = jax.random.split(hm.key(seed))
    x = 1.5 + jax.random.normal(data_key, (n_data, 1)) / jnp.sqrt(tau)
    db_dmu, error = tau, (tau / n_data) ** 0.5

    print(f"τ = {tau:g}, N = {n_data}. Population means: exact, and from one Gibbs step from each data point\n")
    print("          |    population mean    |          |      difference       |")
    print(" step    μ |  exact     sampled    |  sample  |  exact     sampled    |  τ(μ - x̄)")
    mu, rows = -1.0, []
    for step in range(n_steps + 1):
        machine = hm.Machine({"x": hm.Gaussian(jnp.array([tau * mu]), precision=tau)}, {})
        drawn = hm.sample(machine, jax.random.fold_in(chain_key, step), initial=(x,), warm_up=0)[0][:, 0]

        def score(statistics: hm.Machine, mu: float = mu) -> float:
            return db_dmu * float(statistics.layers[0].bias[0]) - tau * mu

        exact = score(hm.exact.statistics(machine))
        population, sample = score(machine.statistics((drawn,))), score(machine.statistics((x,)))
        row = Row(step, mu, exact, population, error, sample, tau * (mu - float(x.mean())))
        rows.append(row)
        if step % 5 == 0:
            print(
                f"{step:5d} {mu:7.4f} | {exact:z7.4f}  {population:7.4f} ± {error:.3f} | {sample:8.4f}"
                f" | {exact - sample:8.4f}  {population - sample:8.4f} ± {error:.3f} | {row.closed_form:8.4f}"
            )
        mu -= rate * (population - sample)

    # μ is left by an autoregression of factor 1 - ητ, driven by the noise of each step.
    spread = rate * error / (1 - (1 - rate * tau) ** 2) ** 0.5
    print(f"\nlearned μ = {mu:.4f}, mean of the data x̄ = {x.mean():.4f}: {mu - x.mean():+.4f} apart,")
    print(f"where the noise of the draws leaves a standard deviation of {spread:.4f}")
    return Learned(mu, float(x.mean()), spread, rows)


if __name__ == "__main__":
    main()
