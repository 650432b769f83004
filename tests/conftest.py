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


def pytest_configure(config):
    """The tests compile much and compute little: an older code generator and little optimisation take half the time.

    `make prove` runs with the code generator that users have.
    """
    if "not prove" in config.option.markexpr and jax.__version_info__ < (0, 11):  # XLA stops at flags it does not know
        os.environ["XLA_FLAGS"] += " --xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0"


@pytest.fixture
def float64():
    """Run the test in double precision."""
    with jax.enable_x64(True):
        yield


def pytest_collection_modifyitems(items):
    """Within a file, tests of one machine or unit type follow each other: what is compiled for one serves the rest.

    ``--dist worksteal`` keeps neighbours on one process.
    """

    def subject(item):
        given = item.callspec.params if hasattr(item, "callspec") else {}
        kinds = next((given[name] for name in ("units", "unit", "graph") if name in given), ())
        return "-".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))

    files = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (files[item.path], subject(item)))


MAPS = Path("/proc/self/maps")
MANY_MAPS = 20_000  # of the 65,530 areas of memory that Linux lets a process have: every compiled program takes some


@pytest.fixture(autouse=True, scope="module")
def room_for_compiled_programs():
    """Forget compiled programs before they are too many: at the limit, XLA ends with a segmentation fault."""
    yield
    if MAPS.exists() and MAPS.read_text().count("\n") > MANY_MAPS:
        jax.clear_caches()
