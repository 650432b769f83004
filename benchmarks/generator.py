"""Do words of one row of the generator know each other? χ² of pairs and triples of words, over many rows.

    python -m benchmarks.generator [--rows 4194304]

For each lag: the joint counts of four bits of two words of a row (256 cells) at three places of the bits, and of three
bits of three words (512 cells). The p-values should be uniform.
"""

import argparse

import jax
import numpy as np
from scipy import stats

import harmonium as hm

LAGS = (1, 2, 3, 5, 8, 13, 28, 64, 127, 256, 499)
SHIFTS = (0, 14, 28)
BLOCK = 2**18


def _counts(words: np.ndarray, bits: int, shift: int) -> np.ndarray:
    part = (words >> np.uint32(32 - bits - min(shift, 32 - bits))) & np.uint32(2**bits - 1)
    index = np.zeros(len(words), np.uint32)
    for column in part.T:
        index = index * np.uint32(2**bits) + column
    return np.bincount(index, minlength=2 ** (bits * words.shape[1]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generator", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2**22)
    n = parser.parse_args().rows // BLOCK * BLOCK
    pairs = {(lag, shift): np.zeros(256) for lag in LAGS for shift in SHIFTS}
    triples = {lag: np.zeros(512) for lag in LAGS[:-1]}
    draw = jax.jit(lambda key: jax.random.bits(key, (BLOCK, 2 * LAGS[-2] + 1)))
    for block in range(n // BLOCK):
        words = np.asarray(draw(jax.random.fold_in(hm.key(2026), block)))
        for lag, shift in pairs:
            pairs[lag, shift] += _counts(words[:, [0, lag]], 4, shift)
        for lag in triples:
            triples[lag] += _counts(words[:, [0, lag, 2 * lag]], 3, 0)
    found = [("pair", lag, shift, counts) for (lag, shift), counts in pairs.items()]
    found += [("triple", lag, 0, counts) for lag, counts in triples.items()]
    values = []
    for _, _, _, counts in found:
        expected = n / len(counts)
        values.append(float(stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1)))
    print(f"{n:,} rows, {len(values)} tests: smallest p {min(values):.4f}, largest {max(values):.4f}")
    uniform = stats.kstest(values, "uniform").pvalue
    print(f"p-values against the uniform distribution (Kolmogorov-Smirnov): {uniform:.3f}")
    power = np.sqrt(stats.chi2.isf(1e-9, 255) / (4 * n))
    print(f"a dependence of two words by {power:.5f} in total variation would be seen at 1e-9 half of the time")


if __name__ == "__main__":
    main()
