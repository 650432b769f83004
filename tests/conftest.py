"""Every test runs with shapes and types checked, ranks never promoted silently, and two devices."""

import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"

import jax
import pytest
from jaxtyping import install_import_hook

install_import_hook("harmonium", "beartype.beartype")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def float64():
    """Run the test in double precision."""
    with jax.enable_x64(True):
        yield
