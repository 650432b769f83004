"""The real data sets, where ``HARMONIUM_DATA`` names a folder of copies, and what is said where it does not."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from harmonium import ArgumentError
from harmonium.datasets import DatasetError, catalogue, load, names, places, published_rbm

COPIES = os.environ.get("HARMONIUM_DATA", "")
with_copies = pytest.mark.skipif(not COPIES, reason="HARMONIUM_DATA names no folder of copies")

# Rows, columns, and the mean log-likelihood of the test rows under independent units with Laplace's smoothing, in nats.
REFERENCE = {
    "binarized_mnist": ((50000, 10000, 10000), 784, -205.793),
    "bnetflix": ((15000, 2000, 3000), 100, -64.561),
    "dna": ((1600, 400, 1186), 180, -100.386),
    "jester": ((9000, 1000, 4116), 100, -63.883),
    "mushrooms": ((2000, 500, 5624), 112, -34.232),
    "nltcs": ((16181, 2157, 3236), 16, -9.234),
    "ocr_letters": ((32152, 10000, 10000), 128, -63.738),
}


def test_the_names():
    assert set(names()) == set(REFERENCE)


@with_copies
@pytest.mark.parametrize("name", REFERENCE)
def test_rows_and_likelihood(name):
    rows, columns, expected = REFERENCE[name]
    splits = load(name)
    assert [split.shape for split in splits] == [(n, columns) for n in rows]
    assert all(split.dtype == np.uint8 and split.max() == 1 for split in splits)
    p = (splits.train.sum(axis=0) + 1) / (len(splits.train) + 2)
    found = np.mean(splits.test @ np.log(p) + (1 - splits.test) @ np.log1p(-p))
    assert abs(found - expected) < 6e-4


@with_copies
def test_the_published_rbm_has_its_published_likelihood():
    """Transposed pixels would give -108.7."""
    rbm, test = published_rbm(), load("binarized_mnist").test.astype(np.float32)
    free = test @ rbm.visible_bias + np.logaddexp(0, test @ rbm.weights + rbm.hidden_bias).sum(axis=1)
    assert abs(free.mean(dtype=np.float64) - 451.28 + 86.34) < 0.01


@with_copies
@pytest.mark.parametrize("file", ["debd/nltcs.npz", catalogue.RBM_FILE])
@pytest.mark.parametrize("damage", ["bit", "missing array", "cut", "not npz"])
def test_a_damaged_copy_is_found(tmp_path, monkeypatch, file, damage):
    copy = tmp_path / file
    copy.parent.mkdir()
    shutil.copyfile(Path(COPIES) / file, copy)
    with np.load(copy) as loaded:
        arrays = dict(loaded)
    last = list(arrays)[2]
    if damage == "bit":
        arrays[last].reshape(-1).view(np.uint8)[5] ^= 1
        np.savez(copy, **arrays)
    elif damage == "missing array":
        del arrays[last]
        np.savez(copy, **arrays)
    elif damage == "cut":
        os.truncate(copy, copy.stat().st_size // 2)
    else:
        copy.write_bytes(b"0,1,0\n")
    monkeypatch.setenv("HARMONIUM_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match="Copy it there"):
        published_rbm() if file == catalogue.RBM_FILE else load("nltcs")


def test_an_unknown_name():
    with pytest.raises(ArgumentError, match="name: found 'mnist'; wanted one of binarized_mnist, bnetflix"):
        load("mnist")


@pytest.mark.parametrize("loader", [lambda: load("ocr_letters"), published_rbm])
def test_what_only_a_copy_has(monkeypatch, loader):
    monkeypatch.delenv("HARMONIUM_DATA", raising=False)
    with pytest.raises(
        DatasetError, match=r"HARMONIUM_DATA: found nothing; wanted a folder with .*cannot be downloaded"
    ):
        loader()


def test_where_downloads_are_kept(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("HARMONIUM_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/else")
    assert places.cache() == Path("/else/harmonium")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert places.cache() == Path("/somewhere/.cache/harmonium")
    monkeypatch.setattr("sys.platform", "darwin")
    assert places.cache() == Path("/somewhere/Library/Caches/harmonium")
    monkeypatch.setenv("HARMONIUM_CACHE", "~/here")
    assert places.cache() == Path("/somewhere/here")


def test_an_empty_variable_names_no_folder(monkeypatch):
    monkeypatch.setenv("HARMONIUM_DATA", "")
    assert places.copy() is None
