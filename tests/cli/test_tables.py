"""``score``, ``sample``, ``transform`` and ``info``: what they print and write is what Python has."""

import json
from pathlib import Path

import numpy as np
import pytest

import harmonium as hm
from harmonium import artifact


def _read(path):
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".npz"):
        return np.load(path)["rows"]
    if path.endswith(".parquet"):
        from harmonium.data import read
        from harmonium.data.files import read_file

        rows = read(read_file(path).values, dtype="float64")
        return rows.take(np.arange(rows.n_rows))
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def test_score(rows, run, model):
    loaded = hm.load(model)
    scores = loaded.score_samples(rows)
    code, out, err = run("score", model, "rows.npy", "-o", "scores.csv")
    assert (code, err) == (0, "")
    assert f"{scores.mean():.4f} nats" in out
    assert f"± {scores.std(ddof=1) / np.sqrt(60):.2g}" in out
    np.testing.assert_allclose(_read("scores.csv")[:, 0], scores, rtol=1e-12)
    said = json.loads(run("score", model, "rows.npy", "--json")[1])
    assert said["log_likelihood"]["estimate"] == pytest.approx(scores.mean(), abs=1e-6)
    assert said["log_partition"] == loaded.log_partition_.written()
    assert said["rows"] == 60
    share = (60 * rows.mean(0) + 0.5) / 61
    alone = np.log(np.where(rows == 1, share, 1 - share)).sum(1).mean()
    assert said["independent_columns"] == pytest.approx(alone, abs=1e-4)
    np.save("one.npy", rows[:1])
    assert json.loads(run("score", model, "one.npy", "--json")[1])["standard_error_of_rows"] is None
    assert "nan" not in run("score", model, "one.npy")[1]


def test_evaluate(rows, run, model, monkeypatch):
    found = hm.load(model).evaluate(rows)
    said = json.loads(run("evaluate", model, "rows.npy", "--json")[1])
    assert said["log_likelihood"] == found.log_likelihood.written()
    assert "exactly" in run("evaluate", model, "rows.npy")[1]
    monkeypatch.setattr("harmonium.likelihood.partition.MAX_WORK", 0)
    code, out, err = run("evaluate", model, "rows.npy", "--width", "0.3", "--budget", "100000")
    assert (code, err) == (0, "")
    assert "by annealed importance sampling" in out
    assert "verdict: agree" in out
    for option, word in (("--width", "wide"), ("--width", "-1"), ("--width", "nan"), ("--budget", "10")):
        assert run("evaluate", model, "rows.npy", option, word)[0] == 2


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "parquet"])
def test_transform(ending, rows, run, model):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    features = hm.load(model).transform(rows)
    code, out, err = run("transform", model, "rows.npy", "-o", f"features.{ending}")
    assert (code, out, err) == (0, f"wrote features.{ending}: 60 × 4\n", "")
    np.testing.assert_array_equal(_read(f"features.{ending}").astype(np.float32), features)
    if ending == "csv":
        text = Path("features.csv").read_text()
        assert text.startswith("rbm0,rbm1,rbm2,rbm3\n")
        assert run("transform", model, "rows.npy") == (0, text, "")


def test_sample(rows, run, model):
    code, out, err = run("sample", model, "-n", "5", "--steps", "10")
    assert (code, err) == (0, "")
    assert run("sample", model, "-n", "5", "--steps", "10", "-o", "samples.npy")[0] == 0
    drawn = np.load("samples.npy")
    assert drawn.shape == (5, 6)
    assert out == "".join(",".join(str(int(value)) for value in row) + "\n" for row in drawn)
    assert run("sample", model, "-n", "5", "--steps", "10", "--seed", "1")[1] != out
    expected = hm.load(model).set_params(random_state=0).sample(5, n_steps=10)
    np.testing.assert_array_equal(drawn, expected)


def test_info_of_a_model(rows, run, model):
    code, out, err = run("info", model)
    assert (code, err) == (0, "")
    for line in ("holds           an estimator, RBM", "learned from    rows 60", "updates         200"):
        assert line in out
    said = json.loads(run("info", model, "--json")[1])
    assert said["layers"] == {"visible": "Bernoulli 6", "hidden": "Bernoulli 4"}
    assert said["parameters"]["n_components"] == 4
    assert said["history_ends"]["step"] == 200
    assert said["numbers"] == 6 + 4 + 24 + 6
    assert said["log_partition"]["method"] == "exact"


def test_info_of_other_files(rows, run, model, folder):
    artifact.save_machine("machine.safetensors", hm.rbm(hm.Bernoulli(3), hm.Gaussian(2)))
    assert "a machine" in run("info", "machine.safetensors")[1]
    hm.RBM.from_parameters([[0.5], [0.2]], [0.0, 0.1], [0.3]).save("given.safetensors")
    assert "nothing: parameters were given" in run("info", "given.safetensors")[1]
    np.save("two.npy", rows[:, :2])
    assert "independent" not in run("score", "given.safetensors", "two.npy")[1]
    assert run("fit", "rows.npy", "--checkpoint", "run", "--quiet", "--components", "4", "--updates", "2")[0] == 0
    assert "the checkpoint of a run" in run("info", "run/checkpoint.safetensors")[1]
    Path("run/run.json").unlink()
    assert "updates         2\n" in run("info", "run")[1]
    content = bytearray(Path(model).read_bytes())
    content[-1] ^= 1
    Path(model).write_bytes(content)
    code, out, err = run("info", model)
    assert (code, out) == (1, "")
    assert "does not match its digest" in err
