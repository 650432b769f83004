"""Partition functions known to ten digits (two independent routes each), as listed in the project's references."""

import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm

pytestmark = pytest.mark.usefixtures("float64")


def _grid(n, m):
    return np.meshgrid(np.arange(float(n)), np.arange(float(m)), indexing="ij")


def _log_z(machine):
    return f"{float(hm.exact.log_partition(machine)):.10f}"


def _case_a():
    i, j = _grid(6, 4)
    weights = 0.5 * np.sin(0.7 * (4 * i + j) + 0.3)
    return 0.2 * np.cos(np.arange(6.0)), -0.1 + 0.05 * np.arange(4.0), weights


def test_a_rbm_6_by_4():
    a, b, weights = _case_a()
    assert _log_z(hm.rbm(hm.Bernoulli(a), hm.Bernoulli(b), weights)) == "7.4413585419"
    assert _log_z(hm.rbm(hm.Bernoulli(b), hm.Bernoulli(a), weights.T)) == "7.4413585419"


def test_b_rbm_16_by_12():
    i, j = _grid(16, 12)
    machine = hm.rbm(
        hm.Bernoulli(np.cos(np.arange(16.0))), hm.Bernoulli(-0.5 + 0.1 * np.arange(12.0)), 1.5 * np.sin(i + 2 * j)
    )
    assert _log_z(machine) == "43.2865970548"


def test_c_rbm_784_by_16():
    i, j = _grid(784, 16)
    machine = hm.rbm(
        hm.Bernoulli(-1 + 0.5 * np.cos(0.1 * np.arange(784.0))),
        hm.Bernoulli(0.2 * np.sin(np.arange(16.0))),
        0.3 * np.sin(0.01 * (i + 1) * (j + 1)),
    )
    assert _log_z(machine) == "351.9834154338"


def test_d_general_boltzmann_machine_of_10_units():
    i, j = _grid(10, 10)
    couplings = 0.6 * np.cos(0.9 * (i + j) + 0.2 * i * j)
    np.fill_diagonal(couplings, 0)
    machine = hm.boltzmann(hm.Bernoulli(0.3 * np.sin(np.arange(10.0))), visible_weights=couplings)
    assert _log_z(machine) == "7.6310382313"


def test_e_deep_boltzmann_machine_6_4_3():
    a, b, first = _case_a()
    j, k = _grid(4, 3)
    second = 0.8 * np.cos(0.5 * (3 * j + k))
    units = [hm.Bernoulli(a), hm.Bernoulli(b), hm.Bernoulli(np.array([0.1, -0.2, 0.3]))]
    assert _log_z(hm.deep(*units, weights=[first, second])) == "9.8470081460"


BETAS = [0.2, 0.4, np.log(1 + np.sqrt(2)) / 2, 0.6]


@pytest.mark.parametrize(
    ("beta", "log_z"),
    list(zip(BETAS, ["11.7714703585", "14.5610930238", "15.5219154588", "20.0565328843"], strict=True)),
)
def test_f_ising_torus_4_by_4(beta, log_z):
    assert _log_z(hm.ising(4, 4, coupling=beta)) == log_z


@pytest.mark.prove
@pytest.mark.parametrize(
    ("beta", "log_z"), list(zip(BETAS, [47.0101474224, 56.5993887604, 60.1417807891, 78.1416488576], strict=True))
)
def test_f_ising_torus_8_by_8_row_by_row(beta, log_z):
    """Too many states to list; the transfer matrix between rows is made of the package's own energies of two rows."""
    states = np.array(np.meshgrid(*[[-1.0, 1.0]] * 8, indexing="ij")).reshape(8, -1).T
    ring = hm.ising(8, coupling=beta)
    inside = -np.asarray(ring.energy((jnp.asarray(states),)))
    rows = hm.rbm(hm.Spin(8), hm.Spin(8), beta * np.eye(8))
    x = jnp.asarray(states)
    between = np.stack([-rows.energy((x, jnp.broadcast_to(s, x.shape))) for s in x])
    log_transfer = between + inside[:, None] / 2 + inside[None] / 2
    eigenvalues = np.linalg.eigvalsh(np.exp(log_transfer - log_transfer.max()))
    assert f"{np.log(np.sum(eigenvalues**8)) + 8 * log_transfer.max():.10f}" == f"{log_z:.10f}"


def test_g_ising_ring_of_20():
    assert _log_z(hm.ising(20, coupling=1.0)) == "22.5428609079"


def test_h_gaussian_bernoulli_3_by_3():
    """The reference writes E = Σ(v-a)²/2s² - (v/s²)Wh - bh: in natural parameters, W/s² and a constant Σa²/2s²."""
    weights = np.array([[0.5, -0.3, 0.2], [0.1, 0.4, -0.6], [-0.2, 0.3, 0.7]])
    a, s, b = np.array([0.1, -0.2, 0.3]), np.array([1, 0.5, 2]), np.array([-0.1, 0.2, 0])
    machine = hm.rbm(hm.Gaussian.from_moments(a, s**2), hm.Bernoulli(b), weights / s[:, None] ** 2)
    assert f"{float(hm.exact.log_partition(machine)) - np.sum(a**2 / (2 * s**2)):.10f}" == "5.4767594877"


def test_zero_weights_factorise():
    a, b = np.linspace(-2, 2, 30), np.linspace(-1, 3, 20)
    machine = hm.rbm(hm.Bernoulli(a), hm.Bernoulli(b))
    expected = np.logaddexp(0, a).sum() + np.logaddexp(0, b).sum()
    assert abs(float(hm.exact.log_partition(machine, max_states=2**25)) - expected) < 1e-10 * expected
