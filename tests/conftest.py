"""Every test runs with shapes and types checked, ranks never promoted silently, and two devices."""

import os
from pathlib import Path

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"

import jax
import pytest
from jaxtyping import install_import_hook

# The façade takes what users pass, and checks it in words of its own.
ROOMS = (Path(__file__).parents[1] / "src" / "harmonium").glob("[a-z]*")
install_import_hook([f"harmonium.{room.stem}" for room in ROOMS if room.stem != "estimators"], "beartype.beartype")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def float64():
    """Run the test in double precision."""
    with jax.enable_x64(True):
        yield
