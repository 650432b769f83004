"""What the default monitors cost: fits of the same rows with and without them, in turns, as a ratio of processor time.

    python -m benchmarks.monitoring

The first pair compiles everything; the others compile nothing. Wall-clock time would count what else the machine does.
"""

import time
import warnings

import numpy as np

import harmonium as hm

COLUMNS, HIDDEN, ROWS, UPDATES, PAIRS = 784, 256, 10_000, 20_000, 2


def seconds(X: np.ndarray, monitors: str) -> float:
    start = time.process_time()
    hm.RBM(HIDDEN, n_updates=UPDATES, random_state=0, monitors=monitors).fit(X)
    return time.process_time() - start


def main() -> None:
    warnings.simplefilter("ignore")
    chance = np.random.default_rng(0)
    kinds = chance.random((10, COLUMNS)) < 0.2
    X = (kinds[chance.integers(0, 10, ROWS)] ^ (chance.random((ROWS, COLUMNS)) < 0.05)).astype(np.uint8)
    print(f"{COLUMNS} × {HIDDEN}, {UPDATES:,} updates, 20 looks; processor seconds")
    for pair in range(PAIRS):
        without, with_them = seconds(X, "none"), seconds(X, "auto")
        what = "compiled before" if pair else "with compiling"
        print(f"{what}: {without:.1f} without, {with_them:.1f} with monitors: {with_them / without - 1:+.1%}")


if __name__ == "__main__":
    main()
