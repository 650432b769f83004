"""Where commands leave what they compiled, and when they do not."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harmonium.cli import command, compiled, main

VARIABLE = "JAX_COMPILATION_CACHE_DIR"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for all that is cached; the environment comes back as it was."""
    for name in (VARIABLE, compiled.SWITCH, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HARMONIUM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_program_keeps_what_it_compiles_in_the_users_cache(cache):
    compiled.keep()
    folder = Path(os.environ[VARIABLE])
    assert folder.is_relative_to(cache / "compiled")
    assert folder.is_dir()


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no"])
def test_not_when_it_is_switched_off(cache, monkeypatch, word):
    monkeypatch.setenv(compiled.SWITCH, word)
    compiled.keep()
    assert VARIABLE not in os.environ
    assert not cache.exists()


def test_a_folder_that_jax_was_given_is_left_alone(cache, monkeypatch):
    monkeypatch.setenv(VARIABLE, "elsewhere")
    compiled.keep()
    assert os.environ[VARIABLE] == "elsewhere"
    assert not cache.exists()


def test_without_a_place_to_write_to_commands_go_on(cache, monkeypatch):
    cache.write_text("a file where a folder should be")
    compiled.keep()
    assert VARIABLE not in os.environ


def test_the_oldest_programs_go_when_there_are_too_many(cache, monkeypatch):
    monkeypatch.setattr(compiled, "MOST", 25)
    compiled.keep()
    folder = Path(os.environ.pop(VARIABLE))
    for age, name in enumerate(("newest", "middle", "oldest")):
        (folder / name).write_bytes(bytes(10))
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    compiled.keep()
    assert sorted(path.name for path in folder.iterdir()) == ["middle", "newest"]


def test_a_call_from_a_program_changes_nothing_of_it(cache, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["harmonium", "info", "nothing.safetensors"])
    main(["info", "nothing.safetensors"])
    assert VARIABLE not in os.environ
    assert command.main() != 0
    assert VARIABLE in os.environ


@pytest.mark.prove
def test_a_second_command_compiles_nothing(cache, tmp_path):
    """What took long enough to be kept is found: no more files are written by the same command."""
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).integers(0, 2, (60, 6)))
    words = ["fit", "rows.npy", "-o", "m.safetensors", "--force", "--quiet", "--components", "4", "--updates", "200"]
    environment = os.environ | {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}

    def kept():
        subprocess.run([sys.executable, "-m", "harmonium", *words], cwd=tmp_path, env=environment, check=True)
        return {path.name for path in cache.rglob("*-cache")}

    first = kept()
    assert len(first) > 5
    assert kept() == first
