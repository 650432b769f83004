"""Batches of rows, shuffled anew in each epoch, as a function of a seed and the number of the step."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt64

from harmonium.data.rows import Rows
from harmonium.data.weights import check_weights
from harmonium.errors import ArgumentError


class Batches:
    """The batches of all steps: step t holds ``batch_size`` rows, B, of epoch t // ``steps_per_epoch``.

    Each epoch holds each row once, in an order that follows from (``seed``, epoch) alone, so that a run goes on from
    the seed and t. The last batch of an epoch, if short, is filled up with row 0 at weight zero. A row's weight is its
    ``sample_weight`` over the mean of all: full batches have a weight of about B.

    ``places`` are the rows to learn from, by default all. With ``whole`` a batch has B rows even where there are fewer,
    and with ``first`` the steps are counted from there: a stream comes in pieces, each a table with steps of its own.

    >>> from harmonium.data.rows import read
    >>> batches = Batches(read([[1.0], [2.0], [3.0]]), batch_size=2, seed=0)
    >>> x, w = batches.chunk(0, batches.steps_per_epoch)
    >>> x.shape, sorted(x[w > 0].ravel().tolist()), w.tolist()
    ((2, 2, 1), [1.0, 2.0, 3.0], [[1.0, 1.0], [1.0, 0.0]])
    """

    def __init__(
        self,
        rows: Rows,
        batch_size: int,
        seed: int,
        sample_weight: Any = None,
        *,
        places: Int[np.ndarray, " places"] | None = None,
        whole: bool = False,
        first: int = 0,
    ) -> None:
        if batch_size < 1:
            raise ArgumentError("batch_size", f"{batch_size}", "at least 1")
        if seed < 0:
            raise ArgumentError("seed", f"{seed}", "at least 0")
        self.rows = rows
        self.seed = seed
        self.first = first
        self.places = places
        self.n_rows = rows.n_rows if places is None else len(places)
        self.batch_size = batch_size if whole else min(batch_size, self.n_rows)
        self.steps_per_epoch = -(-self.n_rows // self.batch_size)
        self._weights = None if sample_weight is None else _relative(sample_weight, rows, places)
        self._latest: tuple[int, Int[np.ndarray, " rows"]] = (-1, np.empty(0, np.int64))

    def order(self, epoch: int) -> Int[np.ndarray, " rows"]:
        """The places of the rows in the order in which an epoch visits them."""
        latest, order = self._latest
        if epoch != latest:
            order = permutation(self.seed, epoch, self.n_rows)
            order = order if self.places is None else self.places[order]
            self._latest = epoch, order
        return order

    def chunk(
        self, t: int, n_steps: int
    ) -> tuple[Float[np.ndarray, "steps batch columns"], Float[np.ndarray, "steps batch"]]:
        """The rows and weights of steps t, …, t + n_steps - 1: the same for each step, whatever the chunk."""
        if t < self.first:
            raise ArgumentError("t", f"{t}", f"at least {self.first}")
        if n_steps < 1:
            raise ArgumentError("n_steps", f"{n_steps}", "at least 1")
        index = np.zeros((n_steps, self.batch_size), np.int64)
        weights = np.zeros((n_steps, self.batch_size), self.rows.dtype)
        step = 0
        while step < n_steps:
            epoch, first = divmod(t - self.first + step, self.steps_per_epoch)
            steps = min(n_steps - step, self.steps_per_epoch - first)
            order = self.order(epoch)[first * self.batch_size : (first + steps) * self.batch_size]
            places = slice(step * self.batch_size, step * self.batch_size + len(order))
            index.reshape(-1)[places] = order
            weights.reshape(-1)[places] = 1 if self._weights is None else self._weights[order]
            step += steps
        return self.rows.take(index.reshape(-1)).reshape(n_steps, self.batch_size, -1), weights


def permutation(seed: int, epoch: int, n: int) -> Int[np.ndarray, " rows"]:
    """The numbers below n in random order.

    Philox's bits are the same on all platforms and in all versions of NumPy; what its Generator makes of them need not
    be. So: one word of bits for each number, which takes the place of the lowest, and the words sorted.
    """
    words: UInt64[np.ndarray, " rows"] = np.random.Philox(np.random.SeedSequence(seed, spawn_key=(epoch,))).random_raw(
        n
    )
    low = np.uint64(2 ** (n - 1).bit_length() - 1)  # all bits that numbers below n have
    words &= ~low
    words |= np.arange(n, dtype=np.uint64)
    words.sort()
    words &= low
    return words.view(np.int64)


def _relative(sample_weight: Any, rows: Rows, places: Int[np.ndarray, " places"] | None) -> Float[np.ndarray, " rows"]:
    """Weights over the mean of those that count; their sum stays finite however large they are."""
    weights = check_weights(sample_weight, rows.n_rows)
    shares: Float[np.ndarray, " rows"] = weights / weights.max()
    mean = (shares if places is None else shares[places]).mean()
    if mean == 0:
        raise ArgumentError("sample_weight", "zero for every row to learn from", "a positive weight for one of them")
    relative: Float[np.ndarray, " rows"] = (shares / mean).astype(rows.dtype)
    return relative
