"""The package from outside: import, documents that run, examples, and a unit type added as the guide says."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _run_python(code, folder=None):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)


def test_importing_loads_neither_jax_nor_scikit_learn():
    code = "import sys, json; old = set(sys.modules); import harmonium; print(json.dumps(list(set(sys.modules) - old)))"
    loaded = json.loads(_run_python(code).stdout)
    heavy = {"jax", "jaxlib", "sklearn", "numpy", "scipy", "equinox", "matplotlib", "optax"}
    assert not heavy & {name.split(".")[0] for name in loaded}
    assert len(loaded) < 40


def test_importing_is_quick():
    """Under 0.15 s, in the best of five processes."""
    code = "import time; begun = time.perf_counter(); import harmonium; print(time.perf_counter() - begun)"
    assert min(float(_run_python(code).stdout) for _ in range(5)) < 0.15


def test_every_public_name_is_there_and_listed():
    import harmonium as hm

    for name in hm.__all__:
        assert getattr(hm, name) is not None
    assert set(hm._HOME) == set(hm.__all__)
    assert set(hm.__all__) <= set(dir(hm))
    with pytest.raises(AttributeError, match="no attribute 'RBN'"):
        hm.RBN  # noqa: B018 - looking it up is the test


def _blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNABLE = [path for path in DOCUMENTS if _blocks(path) and path.name != "adding-a-unit.md"]


LONG = ("mixing.md", "report.md")  # half a minute each: `make prove` has them


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.prove] * (path.name in LONG)) for path in RUNNABLE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_python_in_documents_runs(path, tmp_path):
    """Blocks of one page run in order, as a reader would paste them."""
    _run_python("\n".join(_blocks(path)), tmp_path)


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _laws():
    from laws.unit_laws import LAWS

    return LAWS


@pytest.mark.parametrize("law", _laws(), ids=lambda law: law.__name__)
def test_a_new_unit_type_passes_the_laws(law, float64):
    """The guide's new type, from its own file: the laws run on it with no other edit."""
    law(_load(ROOT / "docs" / "guide" / "unit_interval.py").UnitInterval)


def test_a_wrong_new_unit_type_breaks_them(float64):
    """A type whose draws are its means passes the laws of moments and fails that of draws."""
    unit = _load(ROOT / "docs" / "guide" / "unit_interval.py").UnitInterval
    laws = {law.__name__: law for law in _laws()}

    class Frozen(unit):
        def sample(self, key, inputs):
            return self.mean(inputs)

    laws["cgf_is_the_log_normaliser"](Frozen)
    with pytest.raises(AssertionError):
        laws["draws_follow_the_distribution"](Frozen)


@pytest.mark.prove
def test_registering_a_new_unit_type_is_one_file_and_one_line(tmp_path):
    """In a copy, the guide's file and its line in ``UNITS``: all laws of units, machines and samplers run and pass."""
    for part in ("src", "tests", "pyproject.toml"):
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, tmp_path / part)
    units = tmp_path / "src" / "harmonium" / "units"
    shutil.copy(ROOT / "docs" / "guide" / "unit_interval.py", units)
    contents = (units / "__init__.py").read_text()
    line = "from harmonium.units.unit_interval import UnitInterval\n\nUNITS"
    contents = contents.replace("\nUNITS", line).replace("DualRectified)", "DualRectified, UnitInterval)")
    (units / "__init__.py").write_text(contents)
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "tests/laws", "-k", "UnitInterval"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 40


def test_a_machine_of_the_new_unit_type(float64):
    """On either side of a coupling, sampled, and summed exactly by quadrature where nothing has a closed form."""
    import jax.numpy as jnp
    import numpy as np
    from scipy.integrate import dblquad

    import harmonium as hm

    unit = _load(ROOT / "docs" / "guide" / "unit_interval.py").UnitInterval
    machine = hm.rbm(unit(jnp.array([0.5])), unit(jnp.array([-1.0])), jnp.array([[3.0]]))
    expected, _ = dblquad(lambda y, x: np.exp(0.5 * x - y + 3 * x * y), 0, 1, 0, 1, epsabs=1e-13, epsrel=1e-12)
    assert abs(float(hm.exact.log_partition(machine)) - np.log(expected)) < 1e-10
    v, h = hm.sample(machine, hm.key(0), n_chains=10, n_draws=3)
    assert ((v >= 0) & (v <= 1) & (h >= 0) & (h <= 1)).all()


def test_the_gaussian_mean_is_learned():
    """The textbook's example ends at the sample mean, which is the maximum of the likelihood."""
    learned = _load(ROOT / "examples" / "gaussian_mean.py").main()
    assert abs(learned.mu - learned.data_mean) < 6 * learned.spread
    for row in learned.rows:
        assert abs(row.population_exact) < 1e-4
        assert abs((row.population_exact - row.sample_mean) - row.closed_form) < 1e-4
        assert abs(row.population_sampled) < 6 * row.error


def test_the_heart_is_within_its_size():
    """Units to sampling: what a person must read to know what a machine is and how it is sampled; blank lines aside."""
    source = ROOT / "src" / "harmonium"
    machines = ("batchwise", "machine", "couplings", "colouring", "normalisable", "build", "gauge")
    chains = ("__init__", "gibbs", "runner", "folds", "keys")  # exchange between machines is a subject of its own
    files = [
        *source.glob("units/*.py"),
        *(source / f"sampling/{m}.py" for m in chains),
        *(source / f"{m}.py" for m in machines),
    ]
    lines = [line for path in files for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) <= 2000
