"""The same seed gives the same bits: from any form of the data, on any number of threads and devices."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import harmonium as hm

X = (np.random.default_rng(0).random((90, 11)) < 0.3).astype(float)
SETTINGS = {"n_components": 6, "batch_size": 32, "n_updates": 40, "random_state": 3}

FITS = """
import hashlib, sys
import numpy as np
import harmonium as hm
X = (np.random.default_rng(0).random((2000, 196)) < 0.3).astype(np.float32)
digest = hashlib.sha256()
for settings in {settings}:
    rbm = hm.RBM(128, n_updates=60, random_state=0, **settings).fit(X)
    digest.update(rbm.components_.tobytes() + rbm.intercept_visible_.tobytes() + rbm.transform(X).tobytes())
print(digest.hexdigest())
"""


def _assert_same(one, other):
    for name in ("components_", "intercept_visible_", "intercept_hidden_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_sparse_rows_as_dense_ones():
    _assert_same(hm.RBM(**SETTINGS).fit(X), hm.RBM(**SETTINGS).fit(csr_array(X)))


@pytest.mark.parametrize("method", ["pcd", "cd"])
def test_two_devices_as_one(method):
    """The tests have two, and a code generator that rounds differently for them: `make prove` shows the same bits.

    A part has its own key: on devices the draws are other ones than without, and one draw that differs shows.
    """
    one, two = (hm.RBM(**SETTINGS, method=method, devices=n).fit(X) for n in (1, 2))
    np.testing.assert_allclose(one.components_, two.components_, rtol=1e-4, atol=1e-6)
    plain = hm.RBM(**SETTINGS, method=method).fit(X)
    assert 0 < np.abs(plain.components_ - one.components_).max() < 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": 3}, "devices: found 3"),
        ({"devices": 8}, "devices: found 8; wanted some of those that JAX sees here"),
        ({"devices": 2, "batch_size": 30}, r"batch_size: found 30 with devices=2; wanted .*8"),
        ({"devices": 2, "method": "exact"}, r"method: found 'exact' with devices=2"),
    ],
)
def test_what_cannot_be_parted_is_refused(settings, message):
    with pytest.raises(hm.ArgumentError, match=message):
        hm.RBM(**{**SETTINGS, **settings}).fit(X)


def _digest(settings, cores=None, flags=""):
    command = [sys.executable, "-W", "ignore", "-c", FITS.format(settings=settings)]
    if cores is not None:
        command = ["taskset", "-c", cores, *command]
    environment = os.environ | {"XLA_FLAGS": flags}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.prove
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="threads are counted by taskset, which Linux has")
def test_one_thread_as_two():
    settings = [{"batch_size": 10}, {"batch_size": 100}, {"batch_size": 500}, {"method": "cd"}]
    first, second, *_ = sorted(os.sched_getaffinity(0))
    digests = {_digest(settings, cores) for cores in (f"{first}", f"{first},{second}", f"{first},{second}")}
    assert len(digests) == 1


@pytest.mark.prove
def test_eight_devices_as_four_two_and_one():
    flags = "--xla_force_host_platform_device_count=8"
    digests = {_digest([{"batch_size": 96, "devices": n}], flags=flags) for n in (1, 2, 4, 8)}
    assert len(digests) == 1
