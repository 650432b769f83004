"""Where data is: in a copy that ``HARMONIUM_DATA`` names, else in the cache of downloads."""

import os
import sys
from pathlib import Path


class DatasetError(OSError):
    """A data set is not where it was looked for, could not be downloaded, or is not what it should be."""


def copy() -> Path | None:
    """The folder of copies, if the environment variable ``HARMONIUM_DATA`` names one: then nothing is downloaded."""
    named = os.environ.get("HARMONIUM_DATA")
    return Path(named).expanduser() if named else None


def cache() -> Path:
    """The folder of downloads: ``HARMONIUM_CACHE``, else ``harmonium`` in the user's cache of the platform."""
    if named := os.environ.get("HARMONIUM_CACHE"):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        base = "~/Library/Caches"
    elif sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "harmonium"
