"""A folder to be in, a table in it, and the command line as a function."""

import numpy as np
import pytest

from harmonium.cli import main

FAST = ["--components", "4", "--updates", "200", "--batch-size", "20"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rows(folder):
    """60 rows of three pairs of equal columns, in ``rows.npy``."""
    halves = np.random.default_rng(0).integers(0, 2, (60, 3))
    table = np.repeat(halves, 2, axis=1).astype(np.uint8)
    np.save("rows.npy", table)
    return table


@pytest.fixture
def run(capsys):
    """The exit code, standard output and standard error of a command."""

    def call(*words):
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as left:
            code = left.code
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def model(rows, run):
    """A model of the rows, in ``model.safetensors``."""
    assert run("fit", "rows.npy", "-o", "model.safetensors", "--quiet", *FAST) == (0, "", "")
    return "model.safetensors"
