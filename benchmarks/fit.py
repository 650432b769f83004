"""A whole `fit` of the digits, each in a process of its own: start-up, imports and compilation included.

1,797 rows of 64 columns, 100 hidden units, batches of 10, 20 epochs or as many updates. `GridSearchCV` tries 12
settings in one process, 10 epochs on each of 3 folds. An epoch alone, once all is compiled, stands beside them.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.neural_network import BernoulliRBM

import harmonium as hm
from benchmarks.harness import Contender, environment, race, table

EPOCHS, BATCH, HIDDEN = 20, 10, 100

FIT = """
import sys
import numpy as np
from {module} import {name}
{name}(n_components={hidden}, batch_size={batch}, {length}, random_state=0).fit(np.load(sys.argv[1]))
"""

SEARCH = """
import sys
import numpy as np
from sklearn.model_selection import GridSearchCV
from {module} import {name}
grid = {{"n_components": [50, 100, 150], "learning_rate": [0.02, 0.05, 0.1, 0.2]}}
scoring = lambda model, X, y=None: model.score_samples(X).mean()
model = {name}(batch_size={batch}, n_iter=10, random_state=0)
GridSearchCV(model, grid, scoring=scoring, cv=3, n_jobs=1, error_score="raise").fit(np.load(sys.argv[1]))
"""

PEER = ("sklearn.neural_network", "BernoulliRBM", f"n_iter={EPOCHS}")


def measure(quick: bool) -> str:
    """`harmonium.BernoulliRBM` and `harmonium.RBM` against scikit-learn."""
    X = hm.datasets.digits().astype(np.float32)
    updates = EPOCHS * -(-len(X) // BATCH)
    ours = {
        "BernoulliRBM": ("harmonium", "BernoulliRBM", f"n_iter={EPOCHS}"),
        "RBM": ("harmonium", "RBM", f"n_updates={updates}"),
    }
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.npy"
        np.save(path, X)
        fits = [Contender(name, _process(FIT, said, path), 1) for name, said in ours.items()]
        found = race([*fits, Contender("scikit-learn", _process(FIT, PEER, path), 1)], 4 if quick else 15)
        for name in ours:
            lines += found.rows(f"fit of digits, {EPOCHS} epochs, fresh process", name, {"scikit-learn": 1.0})
        searches = [
            Contender("BernoulliRBM", _process(SEARCH, ours["BernoulliRBM"], path), 1),
            Contender("scikit-learn", _process(SEARCH, PEER, path), 1),
        ]
        what = "GridSearchCV of digits, 12 settings, fresh process"
        lines += race(searches, 2 if quick else 9).rows(what, "BernoulliRBM", {"scikit-learn": 2.0})
    epochs = [
        Contender("BernoulliRBM", lambda: _fitted(hm.BernoulliRBM, X), EPOCHS),
        Contender("scikit-learn", lambda: _fitted(BernoulliRBM, X), EPOCHS),
    ]
    found = race(epochs, 8 if quick else 30)
    return table([*lines, *found.rows("an epoch of digits, all compiled", "BernoulliRBM", {"scikit-learn": None})])


def _process(code: str, said: tuple[str, str, str], path: Path) -> Callable[[], object]:
    module, name, length = said
    text = code.format(module=module, name=name, length=length, hidden=HIDDEN, batch=BATCH)
    return lambda: subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text, str(path)], check=True, env=environment()
    )


def _fitted(kind: type[hm.BernoulliRBM] | type[BernoulliRBM], X: np.ndarray) -> object:
    return kind(n_components=HIDDEN, batch_size=BATCH, n_iter=EPOCHS, random_state=0).fit(X)
