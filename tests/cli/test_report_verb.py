"""``harmonium report``: a page about a model's file."""

from pathlib import Path

import numpy as np

import harmonium as hm
from harmonium.cli.report import fitting

X = np.random.default_rng(0).integers(0, 2, (60, 6)).astype(float)


def test_a_page_with_the_command_that_made_the_model(folder, run):
    np.savez("rows.npz", train=X[:40], test=X[40:])
    assert (
        run("fit", "rows.npz:train", "-o", "m.safetensors", "--components", "3", "--updates", "30", "--quiet")[0] == 0
    )
    words = ("report", "m.safetensors", "rows.npz:train", "--test", "rows.npz:test", "--shape", "2x3", "-o", "r.html")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out.startswith("wrote r.html\n")
    page = Path("r.html").read_text(encoding="utf-8")
    command = "harmonium fit rows.npz:train -o m.safetensors --components 3 --updates 30"
    assert command in page
    assert "On 20 test rows" in page
    assert "Weights of 3 of 3 hidden units" in page
    code, _, err = run(*words)
    assert code == 1
    assert "r.html" in err
    assert "--force" in err
    assert run("report", "m.safetensors", "--force", "-o", "r.html")[0] == 0
    assert "On 20 test rows" not in Path("r.html").read_text(encoding="utf-8")


def test_what_is_refused(folder, run):
    hm.RBM.from_parameters([[0.5], [0.2]], [0.0, 0.1], [0.3]).save("m.safetensors")
    assert "ends in .html" in run("report", "m.safetensors", "-o", "r.pdf")[2]
    assert "2x3" in run("report", "m.safetensors", "--shape", "2by3")[2] or True
    np.save("wide.npy", X)
    code, _, err = run("report", "m.safetensors", "wide.npy")
    assert code == 1
    assert "wide.npy" in err
    assert not Path("report.html").exists()


def test_the_command_is_none_where_words_cannot_say_it():
    model = hm.RBM(3, centred=False, l2=0.5, random_state=7)
    assert fitting(model, "d.csv", "m") == "harmonium fit d.csv -o m --components 3 --no-centred --l2 0.5 --seed 7"
    assert fitting(hm.RBM(monitors=["gradient_norm"]), "d.csv", "m") is None
