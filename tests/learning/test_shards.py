"""Parts on several devices: together the same batch, and the same bits whatever the number of devices."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import pair
from scipy import stats

import harmonium as hm
from harmonium.data import Batches, Plain, read
from harmonium.estimators.fitting import Encode
from harmonium.learning import Batch, Contrastive, Likelihood, Penalties, Persistent, shards
from harmonium.training import Run, Schedule, optimiser
from harmonium.training.loop import advance, chunks

X = np.random.default_rng(0).integers(0, 2, (37, 5)).astype(np.float32)
WEIGHTS = np.random.default_rng(1).random(37)


def _ended(negative, devices, n_updates=12):
    """The end of a run with a memory, on rows that count more and less, the last batches padded."""
    objective = Likelihood(negative, Penalties(l2=0.1, sparsity=0.1), devices=shards.mesh(devices))
    run = Run(objective, optimiser("adam", Schedule(0.1, n_updates)), Encode(Plain()))
    machine = hm.rbm(hm.Bernoulli(5), hm.Bernoulli(3), 0.1 * jax.random.normal(hm.key(1), (5, 3)))
    start = run.start(hm.key(0), machine, (jnp.asarray(X.mean(axis=0)),))
    *_, end = chunks(run, start, Batches(read(X), 16, 0, WEIGHTS, whole=True), n_updates, 5)
    return end


@pytest.mark.parametrize("negative", [Persistent(24), Contrastive(2)], ids=["PCD", "CD"])
def test_two_devices_make_the_same_as_one_and_compile_once(negative):
    before = advance._cached._cache_size()
    one, two = (_ended(negative, devices) for devices in (1, 2))
    assert advance._cached._cache_size() == before + 2
    for a, b in zip(*(jax.tree.leaves((end.model, end.average, end.objective)) for end in (one, two)), strict=True):
        assert len(b.devices()) == 1  # where it would be without devices: nobody else need know of them
        # The tests compile with little optimisation, which rounds differently for two: bits are compared below.
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_the_phase_in_the_data_is_that_of_the_whole_batch(float64):
    """And so is the negative phase where chains do not move: ⟨-∂E/∂θ⟩ of the rows, with their weights."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    visible = hm.exact.sample(hm.key(0), machine, 16)[0]
    weights = jax.random.uniform(hm.key(1), (16,)).at[:5].set(0)
    batch = Batch((visible,), weights, 20.0)
    wanted = (
        machine.statistics((visible, None), weights / 20),
        machine.statistics((visible, None), weights / weights.sum()),
    )
    objective = Likelihood(Contrastive(0))
    step = jax.jit(lambda: shards.summed(objective._phases, shards.mesh(2), hm.key(2), machine, None, batch)[0])
    found = step()
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    sizes = shards.largest(lambda m, b: {"x": jnp.max(b.visible[0] @ jnp.arange(4.0))}, shards.mesh(2), machine, batch)
    assert sizes["x"] == (visible @ jnp.arange(4.0)).max()


@pytest.mark.parametrize("negative", [Persistent(2**14), Contrastive(1)], ids=["PCD", "CD"])
def test_chains_of_all_parts_are_unbiased_at_home(negative, float64):
    """From 2¹⁴ exact draws: means of values in [0, 1] with at most ½ of deviation, false alarms below 1e-9 for all.

    Errors of 0.025 are caught: parts that are left out, or that share a key (each would repeat another's draws).
    """
    machine, n = pair(hm.Bernoulli, hm.Bernoulli, (4, 3)), 2**14
    state = hm.exact.sample(hm.key(3), machine, n)
    carried = state if isinstance(negative, Persistent) else None
    batch = Batch(state[:1], jnp.ones(n), float(n))
    objective = Likelihood(negative)
    step = jax.jit(lambda: shards.summed(objective._phases, shards.mesh(2), hm.key(4), machine, carried, batch))
    (_, in_model), after = step()
    exact = hm.exact.statistics(machine)
    limit = stats.norm.isf(1e-9 / 2 / 19) / 2 / np.sqrt(n)
    for a, b in zip(jax.tree.leaves(in_model), jax.tree.leaves(exact), strict=True):
        assert float(jnp.max(jnp.abs(a - b))) < limit
    if after is not None:
        parts = np.asarray(after[0]).reshape(8, -1, 4)
        start = np.asarray(state[0]).reshape(8, -1, 4)
        assert all((parts[i] != start[i]).any() for i in range(8))
        assert parts.shape[1] * 8 == n


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"devices": 3}, "devices: found 3; wanted one of None, 1, 2, 4, 8"),
        ({"devices": 8}, "devices: found 8; wanted some of those that JAX sees here: 2, with ids 0, 1"),
        ({"devices": (0, 7)}, r"devices: found \(0, 7\); wanted some"),
        ({"devices": (1, 1)}, r"devices: found \(1, 1\); wanted 1, 2, 4, 8"),
        ({"batch_size": 12}, "batch_size: found 12 with devices=2; wanted a multiple of 8"),
        ({"n_chains": 20}, "n_chains: found 20 with devices=2; wanted a multiple of 8"),
        ({"method": "exact"}, "method: found 'exact' with devices=2; wanted 'pcd' or 'cd'"),
        ({"method": "pseudo"}, "method: found 'pseudo' with devices=2"),
    ],
)
def test_what_cannot_be_parted_is_refused(changed, message):
    settings = {"n_components": 2, "n_updates": 2, "batch_size": 16, "devices": 2} | changed
    with pytest.raises(hm.ArgumentError, match=message):
        hm.RBM(**settings).fit(X)


FITS = """
import json, hashlib, sys
import numpy as np
import harmonium as hm
rng = np.random.default_rng(0)
found = {}
for columns, units, settings in json.loads(sys.argv[1]):
    X = (rng.random((700, columns)) < 0.3).astype("f4")
    weights = rng.random(700)
    for devices in json.loads(sys.argv[2]):
        model = hm.RBM(units, n_updates=12, random_state=0, devices=devices, monitors="none", **settings)
        model.fit(X, sample_weight=weights)
        digest = hashlib.sha256(model.components_.tobytes() + model.intercept_hidden_.tobytes()).hexdigest()
        found.setdefault(str((columns, units, settings)), []).append(digest)
print(json.dumps(found))
"""


def _fits(cases, devices, **environment):
    """Digests of what fits end with, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", FITS, json.dumps(cases), json.dumps(devices)],
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.prove
def test_one_two_four_and_eight_devices_make_the_same_bits():
    cases = [(64, 30, {"batch_size": 64}), (256, 100, {"batch_size": 200, "n_chains": 104}), (20, 9, {"method": "cd"})]
    cases[2][2]["batch_size"] = 32
    found = _fits(cases, [1, 2, 4, 8])
    assert [len(set(digests)) for digests in found.values()] == [1, 1, 1]
    assert [len(digests) for digests in found.values()] == [4, 4, 4]


@pytest.mark.prove
def test_one_and_two_threads_make_the_same_bits():
    """Sizes at which XLA cuts sums by threads where it is let: rows beyond 128, and outputs small and large."""
    cases = [
        (64, 100, {"batch_size": 500}),
        (784, 500, {"batch_size": 500}),
        (784, 500, {"batch_size": 100}),
        (300, 30, {"batch_size": 330, "visible": "gaussian"}),
        (64, 10, {"batch_size": 150, "hidden": "rectified"}),
        (64, 10, {"batch_size": 700, "method": "cd", "optimizer": "adam"}),
        (10, 5, {"batch_size": 700, "method": "exact"}),
        (30, 10, {"batch_size": 500, "method": "pseudo"}),
    ]
    one, two, eight = (_fits(cases, [None], NPROC=n) for n in ("1", "2", "8"))
    assert one == two
    assert one == eight
    assert len({digests[0] for digests in one.values()}) == len(cases)
