"""Runs killed at any moment end as if nothing had happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.prove
def test_100_runs_killed_in_training_and_in_saving_end_bit_for_bit(tmp_path):
    """The last checkpoint, byte for byte: parameters, averages, Adam's moments, chains, key, history and the best."""
    command = [sys.executable, Path(__file__).with_name("killed.py"), tmp_path, "100", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) == 100
    assert all(run["same"] for run in runs), runs
    assert all(run["kills"] for run in runs)
    kills = [kill for run in runs for kill in run["kills"]]
    for moment in ("seconds", "save"):
        assert sum(moment in kill for kill in kills) > 60
    assert sum(kill["kept"] is not None for kill in kills) > 100  # they went on, and did not begin again
