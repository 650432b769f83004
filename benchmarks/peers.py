"""What others offer for the same work: scikit-learn, PyTorch written by hand, and `rbms`, each at its best.

All compute in float32. PyTorch runs without a graph, in place where it can, with biases inside the product (``addmm``).
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from rbms.bernoulli_bernoulli.classes import BBRBM
from rbms.partition_function.ais import compute_partition_function_ais
from rbms.training.pcd import fit_batch_pcd
from sklearn.neural_network import BernoulliRBM
from torch import Tensor

from benchmarks import harness

torch.set_num_threads(harness.THREADS)

RATE = 0.01
Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]
"""W (visible, hidden), and the biases of visible and hidden units."""


def scikit_learn(parameters: Parameters, batch: int = 10) -> BernoulliRBM:
    """scikit-learn's estimator with these parameters, as if fitted."""
    W, a, b = parameters
    model = BernoulliRBM(len(b), learning_rate=RATE, batch_size=batch, random_state=0)
    model.components_ = np.asarray(W.T, order="F", dtype=np.float32)
    model.intercept_visible_, model.intercept_hidden_ = a.copy(), b.copy()
    model.h_samples_ = np.zeros((batch, len(b)), np.float32)
    model.n_features_in_, model._n_features_out = W.shape
    return model


def scikit_learn_steps(parameters: Parameters, batches: np.ndarray) -> Callable[[int], object]:
    """Steps of scikit-learn's PCD-1."""
    model, chance, rows = scikit_learn(parameters, batches.shape[1]), np.random.RandomState(0), _around(batches)
    return lambda n: [model._fit(next(rows), chance) for _ in range(n)]


def torch_steps(parameters: Parameters, batches: np.ndarray) -> Callable[[int], object]:
    """Steps of PCD-1 in eager PyTorch: five products, three sigmoids, two draws."""
    W, a, b = map(torch.tensor, parameters)
    size = batches.shape[1]
    rows, rate = _around(torch.tensor(batches)), RATE / size
    h = torch.zeros(size, len(b))

    def step(x: Tensor) -> None:
        in_data = torch.addmm(b, x, W).sigmoid_()
        v = _drawn(torch.addmm(a, h, W.T).sigmoid_())
        in_model = torch.addmm(b, v, W).sigmoid_()
        W.addmm_(x.T, in_data, alpha=rate).addmm_(v.T, in_model, alpha=-rate)
        a.add_((x.sum(0) - v.sum(0)), alpha=rate)
        b.add_((in_data.sum(0) - in_model.sum(0)), alpha=rate)
        torch.lt(torch.rand_like(in_model), in_model, out=h)

    @torch.inference_mode()
    def steps(n: int) -> None:
        for _ in range(n):
            step(next(rows))

    return steps


def torch_sweeps(parameters: Parameters, chains: int) -> Callable[[int], object]:
    """Gibbs sweeps in eager PyTorch."""
    W, a, b = map(torch.tensor, parameters)
    state = _drawn(torch.full((chains, len(a)), 0.5))

    @torch.inference_mode()
    def sweeps(n: int) -> None:
        for _ in range(n):
            h = _drawn(torch.addmm(b, state, W).sigmoid_())
            p = torch.addmm(a, h, W.T).sigmoid_()
            torch.lt(torch.rand_like(p), p, out=state)

    return sweeps


def rbms_steps(
    parameters: Parameters, batches: np.ndarray, *, centred: bool, l2: float = 0.0
) -> Callable[[int], object]:
    """Steps of PCD-1 as `rbms` makes them, from batches at hand (its own loop draws them anew from all rows)."""
    rows = _around(torch.tensor(batches))
    step = rbms_step(rbms_model(parameters), batches.shape[1], RATE, centred=centred, l2=l2)
    return lambda n: [step(next(rows)) for _ in range(n)]


def rbms_step(model: BBRBM, batch: int, rate: float, *, centred: bool, l2: float = 0.0) -> Callable[[Tensor], None]:
    """The step of its training loop, without its files and logs: chains as many as rows in a batch."""
    weights = torch.ones(batch)
    with torch.no_grad():
        model.init_grad()
        chains = model.init_chains(batch)
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, maximize=True)

    @torch.no_grad()
    def step(rows: Tensor) -> None:
        nonlocal chains
        optimiser.zero_grad(set_to_none=False)
        chains, _ = fit_batch_pcd((rows, weights), chains, model, 1, 1.0, centered=centred, lambda_l2=l2 / 2)
        optimiser.step()

    return step


def rbms_annealing(parameters: Parameters, chains: int, temperatures: int) -> Callable[[], float]:
    """log Z by annealed importance sampling as `rbms` does it."""
    model = rbms_model(parameters)

    @torch.inference_mode()
    def estimate() -> float:
        return float(compute_partition_function_ais(chains, temperatures + 1, model))

    return estimate


def rbms_model(parameters: Parameters) -> BBRBM:
    """The RBM of `rbms` with these parameters."""
    return BBRBM(*map(torch.tensor, parameters))


def _drawn(p: Tensor) -> Tensor:
    """0 or 1 with chance p, over p; comparing with uniforms is faster than ``torch.bernoulli``."""
    return torch.lt(torch.rand_like(p), p, out=p)


def _around(batches: np.ndarray | Tensor) -> Iterator[np.ndarray | Tensor]:
    """The batches, over and over."""
    while True:
        yield from batches
