r"""The Ising model on a 64×64 torus, above, at and below its critical temperature, against the exact energy.

E(s) = -J Σ_⟨ij⟩ s_i s_j with s = ±1. The grid has two colours, like a chessboard; the sampler updates one at a time.
Kaufman (1949, Phys. Rev. 76, 1232) gave Z of a finite torus in closed form. With K = βJ and n sites the energy per
site is u = -(1/n) ∂log Z/∂K, known without error, so that the sampled one can be held against it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import harmonium as hm

CRITICAL = float(np.log(1 + np.sqrt(2)) / 2)


class Row(NamedTuple):
    """One temperature: the energy per site (in units of J), |magnetisation|, and one field of spins."""

    coupling: float
    energy: float
    error: float
    exact: float
    magnetisation: float
    spins: np.ndarray


def log_partition(K: float, side: int) -> float:
    """log Z of the torus: ½(2 sinh 2K)^(n/2) times the sum of four products (Kaufman 1949)."""
    logs, signs = [], []
    for k in (np.arange(1, 2 * side, 2), np.arange(0, 2 * side, 2)):
        gamma = np.arccosh(np.cosh(2 * K) ** 2 / np.sinh(2 * K) - np.cos(np.pi * k / side))
        gamma[k == 0] = 2 * K + np.log(np.tanh(K))
        x = side * np.abs(gamma) / 2
        logs += [np.sum(x + np.log1p(np.exp(-2 * x))), np.sum(x + np.log(-np.expm1(-2 * x)))]  # 2 cosh x, 2 sinh x
        signs += [1, np.prod(np.sign(gamma))]
    total = np.sum(np.array(signs) * np.exp(np.array(logs) - max(logs)))
    return float(np.log(total / 2) + max(logs) + side**2 / 2 * np.log(2 * np.sinh(2 * K)))


def exact_energy(K: float, side: int, step: float = 1e-5) -> float:
    """The energy per site, by a central difference of log Z."""
    return -(log_partition(K + step, side) - log_partition(K - step, side)) / (2 * step * side**2)


def main(side: int = 64, n_chains: int = 16, n_draws: int = 50, warm_up: int = 1000, seed: int = 0) -> list[Row]:
    print(f"{side}×{side} torus: {n_chains} chains, all spins up, {warm_up} sweeps, then {n_draws} draws 20 apart\n")
    print("    βJ | energy per site/J      exact  | difference/error | |magnetisation|")
    rows = []
    for i, K in enumerate((0.2, CRITICAL, 0.6)):
        machine = hm.ising(side, side, coupling=K)
        start = jnp.ones((n_chains, side * side))
        key = jax.random.fold_in(hm.key(seed), i)
        (spins,) = hm.sample(machine, key, n_draws=n_draws, warm_up=warm_up, thin=20, initial=(start,))
        by_chain = np.asarray(machine.energy((spins,))).mean(axis=1) / (K * side**2)
        error = float(by_chain.std(ddof=1) / np.sqrt(n_chains))  # chains are independent, draws of one are not
        magnetisation = float(jnp.abs(spins.mean(axis=-1)).mean())
        field = np.asarray(spins[0, -1]).reshape(side, side)
        row = Row(K, float(by_chain.mean()), error, exact_energy(K, side), magnetisation, field)
        rows.append(row)
        print(
            f"{K:6.4f} | {row.energy:8.4f} ± {error:.4f}  {row.exact:8.4f}  |"
            f"{(row.energy - row.exact) / error:11.1f}       | {magnetisation:9.3f}"
        )
    return rows


if __name__ == "__main__":
    main()
