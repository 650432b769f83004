"""``fit`` and ``resume``: what is said, what is never overwritten, and the same model after any interruption."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import harmonium as hm
from harmonium.estimators import keeping

FAST = ["--components", "4", "--updates", "200", "--batch-size", "20"]  # as in the model of conftest.py

KILLED = """
import os, signal, sys
from harmonium.cli import main
from harmonium.estimators import keeping

keeping.Keeper.__init__.__defaults__ = (0.0,)  # a checkpoint after each chunk
left, sync = int(sys.argv[1]), os.fsync

def fsync(file):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(file)

os.fsync = fsync
sys.exit(main(sys.argv[2:]))
"""


def _killed(at, *words):
    """Kill a command at the moment it syncs something for the ``at``-th time: odd before a renaming, even after."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(at), *words], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(keeping.Keeper.__init__, "__defaults__", (0.0,))


def test_fit_says_what_was_learned(rows, run):
    code, out, err = run("fit", "rows.npy", *FAST, "--validation", "0.2", "--patience", "None")
    assert code == 0
    model = hm.load("rows.safetensors")
    assert model.n_components == 4
    assert model.n_updates_ == 200
    assert "60 rows × 6 columns (Bernoulli)" in out
    assert "48 rows learned from" in out
    assert "12 rows held out" in out
    assert "exactly" in out
    assert "harmonium sample rows.safetensors" in out
    assert "200/200 updates" in err
    assert "\x1b" not in out + err
    _, held = hm.estimators.held_out(model.fit(rows), 60)
    assert f"{model.score(rows[held]):.3f}" in next(line for line in out.splitlines() if "rows held out" in line)


def test_a_run_that_stops_early_says_so(rows, run):
    _, out, err = run("fit", "rows.npy", *FAST, "--validation", "0.2", "--patience", "1", "--learning-rate", "1e-9")
    model = hm.load("rows.safetensors")
    assert model.n_updates_ < 200
    assert f"{model.n_updates_}/200 updates" in err
    assert "stopped: best after" in err
    assert f"{model.n_updates_} of 200 updates" in out
    best = model.history_["step"][np.argmax(model.history_["validation_log_likelihood"])]
    assert f"kept: the model after update {best}, the best on the others" in out


def test_a_model_no_better_than_independent_columns_is_called_so(folder, run):
    np.save("noise.npy", np.random.default_rng(0).integers(0, 2, (60, 6)))
    _, out, _ = run("fit", "noise.npy", *FAST, "--validation", "0.5", "--learning-rate", "5", "--l2", "0")
    assert "no better than independent columns" in out


def test_quiet_is_silent_and_leaves_the_same_file(rows, run, model):
    assert run("fit", "rows.npy", *FAST)[0] == 0
    assert Path("rows.safetensors").read_bytes() == Path(model).read_bytes()


def test_the_file_is_what_python_would_save(rows, model):
    made = hm.RBM(4, n_updates=200, batch_size=20, random_state=0).fit(rows)
    loaded = hm.load(model)
    assert loaded.get_params() == made.get_params()
    np.testing.assert_array_equal(loaded.components_, made.components_)


def test_nothing_is_overwritten(rows, run, model):
    before = Path(model).read_bytes()
    for words in (
        ["fit", "rows.npy"],
        ["sample", model],
        ["transform", model, "rows.npy"],
        ["score", model, "rows.npy"],
    ):
        taken = "model.safetensors" if words[0] == "fit" else "rows.npy"
        content = Path(taken).read_bytes()
        code, out, err = run(*words, "-o", taken)
        assert (code, out) == (1, "")
        assert (
            err
            == f"harmonium: --output: found '{taken}', which exists; wanted another name, or --force to overwrite it.\n"
        )
        assert Path(taken).read_bytes() == content
    assert run("fit", "rows.npy", "-o", model, "--force", "--seed", "1", *FAST)[0] == 0
    assert Path(model).read_bytes() != before


def test_names_of_columns_are_kept_and_must_agree(rows, run, folder):
    names = list("abcdef")

    def table(path, names):
        np.savetxt(path, rows, "%d", ",", header=",".join(names), comments="")

    table("named.csv", names)
    assert run("fit", "named.csv", "--quiet", *FAST) == (0, "", "")
    assert list(hm.load("named.safetensors").feature_names_in_) == names
    assert run("sample", "named.safetensors", "-n", "1")[1].startswith("a,b,c,d,e,f\n")
    code, _, err = run("score", "named.safetensors", "named.csv")
    assert (code, err) == (0, "")
    table("other.csv", ["a", "c", "b", "d", "e", "f"])
    code, _, err = run("score", "named.safetensors", "other.csv")
    assert code == 1
    assert "other.csv: found the name 'c' for column 1; wanted 'b'" in err
    np.save("narrow.npy", rows[:, :5])
    code, _, err = run("score", "named.safetensors", "narrow.npy")
    assert code == 1
    assert "narrow.npy: found 5 columns" in err
    assert run("score", "named.safetensors", "rows.npy")[2] == ""  # no names, the right number: no note


def test_killed_again_and_again_and_the_same_model_in_the_end(rows, run, model, often):
    """In the writing of a checkpoint, before the first one, and in the writing of the model; then resumed."""
    _killed(9, "fit", "rows.npy", "-o", "kept.safetensors", "--checkpoint", "run", "--quiet", *FAST)
    _, out, _ = run("info", "run", "--json")
    assert 0 < json.loads(out)["updates"] < 200
    shutil.copytree("run", "copy")
    Path("begun").mkdir()
    shutil.copy("run/run.json", "begun")
    assert run("resume", "begun", "-o", "begun.safetensors", "--quiet") == (0, "", "")
    assert Path("begun.safetensors").read_bytes() == Path(model).read_bytes()
    synced, sync = 0, os.fsync

    def counted(file):
        nonlocal synced
        synced += 1
        sync(file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", counted)
        assert run("resume", "copy", "-o", "elsewhere.safetensors", "--quiet") == (0, "", "")
    assert Path("elsewhere.safetensors").read_bytes() == Path(model).read_bytes()
    _killed(synced - 1, "resume", "run", "--quiet")  # the model is written aside, and not yet renamed
    assert not Path("kept.safetensors").exists()
    assert run("resume", "run", "--quiet") == (0, "", "")
    assert Path("kept.safetensors").read_bytes() == Path(model).read_bytes()


def test_ctrl_c_says_how_to_go_on(rows, run, model, often, monkeypatch):
    keep, left = keeping.Keeper.keep, 5

    def interrupted(self, course):
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        keep(self, course)

    monkeypatch.setattr(keeping.Keeper, "keep", interrupted)
    code, out, err = run("fit", "rows.npy", "-o", "kept.safetensors", "--checkpoint", "run", *FAST)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "harmonium: interrupted; go on with: harmonium resume run"
    assert not Path("kept.safetensors").exists()
    left = 5
    code, out, err = run("fit", "rows.npy", "-o", "kept.safetensors", *FAST)
    assert code == 130
    assert "nothing was kept; with --checkpoint FOLDER a run can go on" in err
    code, out, err = run("resume", "run")
    assert code == 0
    assert "6/200" not in err
    assert Path("kept.safetensors").read_bytes() == Path(model).read_bytes()


def test_a_finished_run_is_left_alone(rows, run, monkeypatch):
    assert run("fit", "rows.npy", "-o", "kept.safetensors", "--checkpoint", "run", "--quiet", *FAST)[0] == 0
    monkeypatch.setattr(hm.RBM, "fit", None)
    assert run("resume", "run") == (
        0,
        f"finished    {Path('kept.safetensors').resolve()} is the model of this run\n",
        "",
    )
    assert "finished" in run("info", "run")[1]
    Path("kept.safetensors").write_text("mine")
    code, _, err = run("resume", "run")
    assert code == 1
    assert "which exists" in err
    assert Path("kept.safetensors").read_text() == "mine"


def test_a_run_begun_is_not_begun_again(rows, run):
    assert run("fit", "rows.npy", "--checkpoint", "run", "--quiet", *FAST)[0] == 0
    code, _, err = run("fit", "rows.npy", "-o", "new.safetensors", "--checkpoint", "run", *FAST)
    assert code == 1
    assert "wanted harmonium resume run to go on with it" in err
    assert not Path("new.safetensors").exists()


def test_data_that_moved_and_data_that_changed(rows, run, model):
    assert run("fit", "rows.npy", "-o", "kept.safetensors", "--checkpoint", "run", "--quiet", *FAST)[0] == 0
    Path("kept.safetensors").unlink()
    Path("rows.npy").rename("moved.npy")
    code, _, err = run("resume", "run")
    assert code == 1
    assert "found no file of this name" in err
    np.save("other.npy", 1 - rows)
    code, _, err = run("resume", "run", "other.npy")
    assert code == 1
    assert "found a run with data =" in err
    assert run("resume", "run", "moved.npy", "--quiet") == (0, "", "")
    assert Path("kept.safetensors").read_bytes() == Path(model).read_bytes()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"harmonium_run": 1}', '{"harmonium_run": 1, "data": "x", "output": "y", "parameters": 3}']
)
def test_a_damaged_description_of_a_run_is_refused(text, rows, run):
    Path("run").mkdir()
    Path("run/run.json").write_text(text)
    code, out, err = run("resume", "run")
    assert (code, out) == (1, "")
    assert err.startswith("harmonium: run")
    assert "Traceback" not in err


def test_a_description_of_a_newer_version_is_refused(rows, run):
    assert run("fit", "rows.npy", "--checkpoint", "run", "--quiet", *FAST)[0] == 0
    path = Path("run/run.json")
    path.write_text(path.read_text().replace('"harmonium_run": 1', '"harmonium_run": 2'))
    assert "newer Harmonium" in run("resume", "run")[2]
    path.write_text(path.read_text().replace('"harmonium_run": 2', '"harmonium_run": 1').replace("n_gibbs", "n_gibs"))
    Path("rows.safetensors").unlink()  # a finished run is left as it is
    assert "parameters of another version" in run("resume", "run")[2]
