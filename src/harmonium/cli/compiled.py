"""What was compiled is kept for the next command: JAX's own cache, in the user's cache of the platform."""

import os
import platform
from pathlib import Path

SWITCH = "HARMONIUM_COMPILED"
"""The environment variable that says ``off``; a folder that ``JAX_COMPILATION_CACHE_DIR`` names is left to JAX."""

MOST = 2**28
"""Bytes of compiled programs that stay; the oldest go first."""

LEAST_SECONDS = "0.02"
"""What is compiled faster than this is not kept: reading takes as long."""


def keep() -> None:
    """Let JAX keep compiled programs, and find those of earlier commands; it must not have been imported yet."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "false", "no") or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    from harmonium.datasets import places

    # Programs are for one processor: a home may be shared by machines of several kinds.
    folder = places.cache() / "compiled" / (platform.node() or "here")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget(folder)
    except OSError:
        return  # without a place to write to, every command compiles
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", LEAST_SECONDS)


def _forget(folder: Path) -> None:
    """Remove the oldest programs beyond ``MOST`` bytes."""
    found = sorted(((file.stat().st_mtime, file) for file in folder.iterdir()), reverse=True)
    total = 0
    for _, file in found:
        total += file.stat().st_size
        if total > MOST:
            file.unlink(missing_ok=True)
