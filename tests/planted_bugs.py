"""Plant bugs one at a time in a copy of the package, and show that the tests catch every one.

    python tests/planted_bugs.py [name …]

Each bug is an edit of the source and the test that must fail for it, which runs on the edited copy. Exits with 1 if a
bug goes unnoticed, if its edit no longer applies, or if the tests fail without any bug.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import learning_bugs

ROOT = Path(__file__).parents[1]


class Bug(NamedTuple):
    """``old`` becomes ``new`` in ``file``; then ``test``, one of those of `make test`, must fail."""

    file: str
    old: str
    new: str
    test: str


UNITS, MACHINES = "tests/laws/test_units.py::", "tests/laws/test_machines.py::"
STATIONARITY, RUNNER, GAUGE = (
    "tests/laws/test_stationarity.py::",
    "tests/sampling/test_runner.py::",
    "tests/test_gauge.py::",
)
EXCHANGE = "tests/sampling/test_exchange.py::"

BUGS = {
    "hidden bias ignored": Bug(
        "units/bernoulli.py",
        "return softplus(self.field(inputs))",
        "return softplus(inputs)",
        MACHINES + "test_free_energy_sums_the_energy[Bernoulli-Bernoulli]",
    ),
    "hidden bias ignored in sampling": Bug(
        "units/bernoulli.py",
        "return (uniform < self.mean(inputs))",
        "return (uniform < jax.nn.sigmoid(inputs))",
        STATIONARITY + "test_gibbs_on_a_pair[Bernoulli-Bernoulli-0.02]",
    ),
    "last unit never updated": Bug(
        "sampling/gibbs.py",
        "x = _unless(mask, x, unit.sample(layer_key, inputs))",
        "x = _unless(mask.at[:, -1].set(True), x, unit.sample(layer_key, inputs))",
        STATIONARITY + "test_chains_started_anywhere_arrive_on_a_pair[Bernoulli]",
    ),
    "last unit of a coupled layer never updated": Bug(
        "sampling/gibbs.py",
        'return x.at[:, units].set(new, mode="drop"), None',
        'return x.at[:, units].set(jnp.where(units[None] == x.shape[1] - 1, old, new), mode="drop"), None',
        STATIONARITY + "test_chains_started_anywhere_arrive_on_a_graph[torus]",
    ),
    "mean used for a sample": Bug(
        "units/bernoulli.py",
        "return (uniform < self.mean(inputs)).astype(inputs.dtype)",
        "return self.mean(inputs)",
        UNITS + "test_law[Bernoulli-draws_follow_the_distribution]",
    ),
    "Gaussian mean used for a sample": Bug(
        "units/gaussian.py",
        "return self.mean(inputs) + noise * jnp.sqrt(self.variance(inputs))",
        "return self.mean(inputs)",
        UNITS + "test_law[Gaussian-draws_follow_the_distribution]",
    ),
    "one key used for v and h": Bug(
        "sampling/gibbs.py",
        "layer_key = jax.random.fold_in(key, layer)",
        "layer_key = key",
        STATIONARITY + "test_gibbs_on_a_pair[Bernoulli-Bernoulli-0.02]",
    ),
    "β on one side only": Bug(
        "sampling/gibbs.py",
        "inputs = beta * machine.inputs_from_others(state, layer)",
        "inputs = (beta if layer else 1.0) * machine.inputs_from_others(state, layer)",
        RUNNER + "test_tempering_scales_every_input[table]",
    ),
    "Gaussian σ for σ²": Bug(
        "units/gaussian.py",
        "return spread(1 / self.precision, inputs.shape)",
        "return spread(1 / jnp.sqrt(self.precision), inputs.shape)",
        UNITS + "test_law[Gaussian-mean_and_variance_are_those_of_the_distribution]",
    ),
    "Gaussian σ² for σ in sampling": Bug(
        "units/gaussian.py",
        "noise * jnp.sqrt(self.variance(inputs))",
        "noise * self.variance(inputs)",
        STATIONARITY + "test_exact_draws_are_exact_on_a_pair[Gaussian-Bernoulli]",
    ),
    "spin input off by 2": Bug(
        "units/spin.py",
        "uniform < jax.nn.sigmoid(2 * self.field(inputs))",
        "uniform < jax.nn.sigmoid(self.field(inputs))",
        STATIONARITY + "test_gibbs_on_a_pair[Spin-Bernoulli-0.02]",
    ),
    "softmax over the wrong axis": Bug(
        "units/categorical.py",
        "return jax.nn.softmax(self.field(inputs), axis=-1)",
        "return jax.nn.softmax(self.field(inputs), axis=-2)",
        UNITS + "test_law[Categorical-mean_and_variance_are_those_of_the_distribution]",
    ),
    "pairs within a layer counted twice": Bug(
        "machine.py",
        "* y, axis=-1) / (2 if a == b else 1)",
        "* y, axis=-1)",
        MACHINES + "test_energy_of_a_graph[general-1.0]",
    ),
    "pairs within a layer counted twice in the inputs": Bug(
        "couplings.py",
        "return jnp.where(self._spread(self.mask), (self.weights + self._swapped()) / 2, 0)",
        "return jnp.where(self._spread(self.mask), self.weights + self._swapped(), 0)",
        "tests/laws/test_reference_cases.py::test_d_general_boltzmann_machine_of_10_units",
    ),
    "stale values used inside a colour block": Bug(
        "sampling/gibbs.py",
        "flat = within.inputs_to(units, x.reshape(len(x), -1))",
        "flat = within.inputs_to(units, stale.reshape(len(x), -1))",
        STATIONARITY + "test_gibbs_on_a_graph[general-0.02]",
    ),
    "coupled units given one colour": Bug(
        "colouring.py",
        "colours[node] = next(c for c in range(n) if c not in taken)",
        "colours[node] = 0 * len(taken)",
        STATIONARITY + "test_gibbs_on_a_graph[torus-0.02]",
    ),
    "uniforms of 8 bits": Bug(
        "units/bernoulli.py",
        "return (uniform < self.mean(inputs))",
        "return (jnp.floor(uniform * 256) / 256 < self.mean(inputs))",
        UNITS + "test_law[Bernoulli-draws_follow_the_distribution]",
    ),
    "clamp ignored on one row": Bug(
        "sampling/gibbs.py",
        "mask = jnp.zeros(x.shape[:2], bool) if held is False else held",
        "mask = jnp.zeros(x.shape[:2], bool) if held is False else held.at[0].set(False)",
        RUNNER + "test_what_is_clamped_never_moves_and_the_rest_does[deep]",
    ),
    "base measure of the Binomial forgotten": Bug(
        "units/binomial.py",
        "return -(x @ self.bias) - jnp.sum(log_choose, axis=-1)",
        "return -(x @ self.bias) - 0 * jnp.sum(log_choose, axis=-1)",
        UNITS + "test_law[Binomial-cgf_is_the_log_normaliser]",
    ),
    "draws of the far tail cut off": Bug(
        "units/truncated_normal.py",
        "jax.lax.fori_loop(0, 3, newton, start)",
        "jax.lax.fori_loop(0, 0, newton, start)",
        UNITS + "test_law[Rectified-draws_follow_the_distribution]",
    ),
    "last chunk of the enumeration dropped": Bug(
        "likelihood/exact.py",
        "jnp.arange(0, count, size)",
        "jnp.arange(0, max(count - size, 1), size)",
        MACHINES + "test_enumeration_in_chunks_covers_every_configuration",
    ),
    "centring shifts the biases the wrong way": Bug(
        "gauge.py",
        "return _shift(plain, [-plain.inputs(",
        "return _shift(plain, [plain.inputs(",
        GAUGE + "test_gauged_energy_is_the_plain_energy_up_to_a_constant[general]",
    ),
    "a layer moved without the biases of the others": Bug(
        "gauge.py",
        "return _shift(changed, [-changed.inputs(origin, place) for place in range(len(layers))])",
        "return changed",
        GAUGE + "test_a_machine_moved_has_the_density_of_the_moved_variable[visible]",
    ),
    "bias of a mean sought in too narrow a range": Bug(
        "units/unit.py",
        "jax.lax.fori_loop(0, 20, widen",
        "jax.lax.fori_loop(0, 2, widen",
        UNITS + "test_law[Bernoulli-with_mean_has_that_mean]",
    ),
    "neutral layer of precision zero": Bug(
        "units/unit.py",
        "path[-1].name in self.positive)",
        "False)",
        UNITS + "test_law[Gaussian-neutral_is_zero_and_positive_parameters_one]",
    ),
    "downloads not checked": Bug(
        "datasets/published.py",
        "if (found := sha256(content).hexdigest()) != digest:",
        "if (found := sha256(content).hexdigest()) != digest and not content:",
        "tests/datasets -k wrong_bit",
    ),
    "download written in place": Bug(
        "datasets/published.py",
        "written = Path(aside) / file.name",
        "written = file",
        "tests/datasets -k killed",
    ),
    "download tried in spite of a folder of copies": Bug(
        "datasets/published.py",
        "if places.copy() is None and not file.exists():",
        "if not file.exists():",
        "tests/datasets -k means_no_download",
    ),
    "swaps by β times the free energy at β = 1": Bug(
        "sampling/exchange.py",
        "total = total + jnp.sum(other.cgf(inputs[1]) - one.cgf(inputs[0]), axis=-1)",
        "total = total + jnp.sum(beta_b * b.layers[layer].cgf(inputs[1] / beta_b)"
        " - beta_a * a.layers[layer].cgf(inputs[0] / beta_a), axis=-1)",
        EXCHANGE + "test_swaps_judge_by_the_free_energy_of_the_replica_itself",
    ),
    "configurations judged without their hidden layers, then kept whole": Bug(
        "sampling/exchange.py",
        "order = (*summed, *(layer for layer in machine.order if layer not in summed))",
        "order = tuple(layer for layer in machine.order if layer not in summed)",
        EXCHANGE + "test_tempering_keeps_every_replica_of_a_graph[hidden_within]",
    ),
    "swaps the wrong way round": Bug(
        "sampling/exchange.py",
        "swapped = (jnp.log(uniform) < here - there)",
        "swapped = (jnp.log(uniform) < there - here)",
        EXCHANGE + "test_stages_keep_every_replica_of_a_graph[table]",
    ),
    "layers summed over though something in them is held": Bug(
        "sampling/exchange.py",
        "if clamp is None or clamp[layer] is False)",
        "if clamp is None or clamp[layer] is not True)",
        EXCHANGE + "test_exchange_with_clamped_units_draws_from_the_conditional[hidden]",
    ),
    "couplings of the first temperatures as strong as the last": Bug(
        "sampling/exchange.py",
        "return gibbs.step(key, machine, state, eqx.combine(masks, whole), beta, order)[0]",
        "return gibbs.step(key, machine, state, eqx.combine(masks, whole), 1.0 + 0 * beta, order)[0]",
        EXCHANGE + "test_tempering_keeps_every_replica_of_a_pair[Bernoulli-Bernoulli]",
    ),
    "chains of the hottest temperature counted": Bug(
        "sampling/ladder.py",
        "jax.tree.map(lambda x: x[-1], divided(state, len(self.places)))",
        "jax.tree.map(lambda x: x[0], divided(state, len(self.places)))",
        "tests/learning/test_likelihood.py::test_sampled_negative_phases_are_unbiased_at_home[rbm-PT]",
    ),
    "the error of a bridge without what neighbours share": Bug(
        "likelihood/bridge.py",
        "shares += np.mean(",
        "shares = np.mean(",
        "tests/likelihood/test_bridge.py::test_the_standard_error_is_that_of_the_estimate",
    ),
    "chains on their way down start only where chains arrived": Bug(
        "likelihood/partition.py",
        "jnp.concatenate([x[rows], far])",
        "jnp.concatenate([x[rows], x[rows]])",
        "tests/likelihood/test_partition.py::test_chains_all_in_one_of_two_modes_are_not_trusted[in the middle]",
    ),
    "the ladder not turned round on the way down": Bug(
        "likelihood/annealed.py",
        "return path.beta(jnp.where(down, n_steps - place, place) / n_steps)",
        "return path.beta(place / n_steps)",
        "tests/likelihood/test_annealed.py::test_weights_on_the_way_down_from_exact_draws_are_unbiased[general]",
    ),
    "standard error of the mean for that of one weight": Bug(
        "likelihood/importance.py",
        "return jnp.std(self._relative(), ddof=1) / jnp.sqrt(self.log_weights.size)",
        "return jnp.std(self._relative(), ddof=1) / self.log_weights.size",
        "tests/likelihood/test_calibration.py::test_a_few_machines[units0]",
    ),
}

EXTRA_EDITS = {
    "stale values used inside a colour block": (
        "    def update(x: Array, group: tuple[Array, Array]) -> tuple[Array, None]:\n",
        "    stale = x\n\n    def update(x: Array, group: tuple[Array, Array]) -> tuple[Array, None]:\n",
    )
}

BUGS |= {name: Bug(*bug) for name, bug in learning_bugs.BUGS.items()}


class Planted(NamedTuple):
    """What became of a bug: whether it was caught, and how long that took; what pytest said."""

    name: str
    caught: bool
    seconds: float
    said: str


def _test(copy: Path, *tests: str) -> tuple[int, str]:
    """Run the tests on the copy: the exit code of pytest, and the first failure it named."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--tb=line", *tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    failures = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode, failures[0].split(" - ")[0] if failures else done.stdout[-300:]


def planted(chosen: dict[str, Bug]) -> Iterator[Planted]:
    """Plant the bugs one after the other; the first "bug" is none, and caught if all the tests pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "tests", "docs", "examples", "README.md", "pyproject.toml"):
            source = ROOT / part
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / part)
        begun = time.perf_counter()
        code, said = _test(copy, *sorted({bug.test for bug in chosen.values()}))
        yield Planted("no bug: the tests pass", code == 0, time.perf_counter() - begun, said if code else "")
        for name, bug in chosen.items():
            path = copy / "src" / "harmonium" / bug.file
            healthy = path.read_text()
            broken = healthy.replace(bug.old, bug.new)
            if name in EXTRA_EDITS:
                broken = broken.replace(*EXTRA_EDITS[name])
            if broken == healthy:
                yield Planted(name, False, 0.0, f"not applied: {bug.file} has changed")
                continue
            path.write_text(broken)
            begun = time.perf_counter()
            code, said = _test(copy, bug.test)
            path.write_text(healthy)
            yield Planted(name, code == 1, time.perf_counter() - begun, said)


def plant(names: list[str]) -> list[Planted]:
    """Plant the bugs of these names, or all, and print what becomes of each; without bugs, no test may fail."""
    done = []
    for bug in planted({name: BUGS[name] for name in names} if names else BUGS):
        print(f"{'caught' if bug.caught else 'MISSED':7}{bug.seconds:5.0f} s  {bug.name}: {bug.said}", flush=True)
        done.append(bug)
        if not done[0].caught:
            break
    print(f"{sum(bug.caught for bug in done[1:])} of {len(names or BUGS)} planted bugs caught")
    return done


if __name__ == "__main__":
    sys.exit(not all(bug.caught for bug in plant(sys.argv[1:])))
