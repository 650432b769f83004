"""``harmonium demo``: a folder that says how good the model is, and that belongs to the demonstration alone."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import harmonium as hm
from harmonium.cli import demo


@pytest.fixture
def short(folder, monkeypatch):
    """The demonstration of a few updates, on which everything but the quality is as in the long one."""
    monkeypatch.setattr(demo, "SETTINGS", demo.SETTINGS | {"n_components": 8, "n_updates": 40})


def test_the_folder(short, run):
    code, out, err = run("demo")
    assert code == 0
    assert "RBM 64 Bernoulli" in err
    folder = Path("demo")
    assert {path.name for path in folder.iterdir()} == {*demo.FILES, demo.WRITTEN}
    digits, model = np.load("demo/digits.npz"), hm.load("demo/model.safetensors")
    assert digits["train"].shape == (1437, 64)
    together = np.concatenate([digits["train"], digits["test"]])
    assert sorted(map(bytes, together)) == sorted(map(bytes, hm.datasets.digits()))
    text, scores = Path("demo/summary.md").read_text(), model.score_samples(digits["test"])
    line = next(line for line in text.splitlines() if line.startswith("this model"))
    assert f"{scores.mean():.2f} ± {scores.std(ddof=1) / np.sqrt(360):.2f}" in line
    assert line in out
    assert all(f"demo/{name}" in out for name in demo.FILES)
    page = Path("demo/report.html").read_text()
    assert f"{scores.mean():.2f}".replace("-", "−") in page
    assert "harmonium demo" in page
    assert "data:image/png;base64," in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)  # needs no network and no other file
    assert Path("demo/picture.png").read_bytes().startswith(b"\x89PNG")


def test_its_own_files_are_replaced_and_no_others(short, run):
    assert run("demo", "--quiet") == (0, "", "")
    Path("demo/notes.txt").write_text("mine")
    Path("demo/picture.png").unlink()
    assert run("demo", "--quiet") == (0, "", "")  # also where one of them is gone
    assert Path("demo/picture.png").exists()
    assert Path("demo/notes.txt").read_text() == "mine"
    Path("demo/summary.md").write_text("mine")
    before = Path("demo/model.safetensors").stat().st_mtime_ns
    code, out, err = run("demo")
    assert (code, out) == (1, "")
    assert "demo/summary.md, which is not (or no longer) as a demonstration left it" in err
    assert Path("demo/summary.md").read_text() == "mine"
    assert Path("demo/model.safetensors").stat().st_mtime_ns == before


def test_a_stranger_is_refused_before_any_work(short, run, monkeypatch):
    monkeypatch.setattr(hm.RBM, "fit", None)
    Path("demo").mkdir()
    Path("demo/picture.png").write_text("mine")
    assert run("demo")[0] == 1
    Path("file").write_text("")
    assert "a folder" in run("demo", "-o", "file")[2]


def test_a_crash_while_writing_leaves_no_stranger(short, run, monkeypatch):
    from harmonium import artifact

    write, left = artifact.write_bytes, 4

    def crash(path, content):
        nonlocal left
        left -= 1
        if not left:
            raise OSError(28, "No space left on device", str(path))
        write(path, content)

    assert run("demo", "--quiet")[0] == 0
    monkeypatch.setattr(demo, "SETTINGS", demo.SETTINGS | {"n_updates": 20})
    monkeypatch.setattr(artifact, "write_bytes", crash)
    code, _, err = run("demo", "--quiet")
    assert code == 1
    assert "No space left on device" in err
    left = 100
    assert run("demo", "--quiet")[0] == 0
    assert all(len(digests) == 1 for digests in json.loads(Path("demo", demo.WRITTEN).read_text()).values())
