"""Memory of a `fit`, and whether a row of a large table costs more than one of a small table.

Memory, in MiB, is the most that a process of its own held less the data: interpreter, imports, compiler and all. What
it held before `fit` stands beside it. A row costs what a fit of 10,000 updates (quick: 2,000) takes, over the rows that
it visits; each fit reads its table once. All tables have 64 columns.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import harmonium as hm
from benchmarks.harness import Contender, environment, grid, race, table
from benchmarks.step import rows_of

COLUMNS, HIDDEN, BATCH, MIB = 64, 100, 100, 2**20
ALLOWED = 300  # MiB above the data

FIT = """
import json, sys
from pathlib import Path
import numpy as np
from scipy.sparse import csr_array

kind, *paths, shape = sys.argv[1:]
arrays = [np.load(path) for path in paths]
data = sum(array.nbytes for array in arrays)
X = arrays[0] if kind == "dense" else csr_array(tuple(arrays), shape=json.loads(shape), copy=False)
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten: reading is not our work

def held(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))

before = held("VmRSS")
import jax
from harmonium import RBM
jax.devices()
loaded = held("VmRSS")
RBM(n_components={hidden}, batch_size={batch}, n_updates=500, random_state=0).fit(X)
print(json.dumps({{"data": data, "before": before, "loaded": loaded, "peak": held("VmHWM")}}))
"""


def measure(quick: bool) -> str:
    """Both tables."""
    sizes = [10**4, 10**5] if quick else [10**4, 10**5, 10**6]
    lines = [_peak(n, kind) for n in sizes for kind in ("dense", "CSR")]
    head = ["data", "rows", "data, MiB", "NumPy and SciPy", "and Harmonium, JAX started", "peak of fit", "wanted"]
    return f"{grid(head, lines, left=1)}\n\n{_cost(sizes, quick)}"


def _peak(n: int, kind: str) -> list[str]:
    X = rows_of(COLUMNS, n)
    if kind == "CSR":
        sparse = csr_array(X)
        arrays = [sparse.data, sparse.indices, sparse.indptr]
    else:
        arrays = [X]
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{i}.npy") for i in range(len(arrays))]
        for path, array in zip(paths, arrays, strict=True):
            np.save(path, array)
        code = FIT.format(hidden=HIDDEN, batch=BATCH)
        command = [sys.executable, "-c", code, kind, *paths, json.dumps(X.shape)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    found = json.loads(done.stdout)
    data, *held = (found[name] / MIB for name in ("data", "before", "loaded", "peak"))
    verdict = f"≤ {ALLOWED} {'✓' if held[-1] - data <= ALLOWED else '✗'}"
    return [kind, f"{n:,}", f"{data:.0f}", *(f"{most - data:.0f}" for most in held), verdict]


def _cost(sizes: list[int], quick: bool) -> str:
    updates = 2000 if quick else 10_000
    names = {n: f"{n:,} rows" for n in sizes}

    def contender(n: int) -> Contender:
        X, model = rows_of(COLUMNS, n), hm.RBM(HIDDEN, batch_size=BATCH, n_updates=updates, random_state=0)
        return Contender(names[n], lambda: model.fit(X), updates * BATCH)

    found = race([contender(n) for n in sizes], 4 if quick else 15)
    what, wanted = f"cost of a row, {COLUMNS} × {HIDDEN}, batch {BATCH}", {names[sizes[0]]: 1 / 1.1}
    return table([row for n in sizes[1:] for row in found.rows(what, names[n], wanted)])
