"""Models in files, and runs that are interrupted and go on."""

import numpy as np
import pytest

import harmonium as hm
from harmonium.artifact import ArtifactError
from harmonium.estimators import keeping

X = np.random.default_rng(0).integers(0, 2, (40, 5)).astype(float)


@pytest.mark.parametrize(
    ("parameters", "table"),
    [
        ({"n_components": 3, "stages": 2}, X),
        ({"visible": "categorical", "hidden": "spin"}, X + X[::-1]),
        ({"visible": "gaussian", "dtype": "float64", "stages": 1}, 100 + 3 * X),
        ({"visible": "binomial", "hidden": "rectified", "learning_rate": 0.01}, X + X[::-1]),
    ],
)
def test_a_model_comes_back_from_its_file(tmp_path, parameters, table):
    rbm = hm.RBM(**{"n_components": 2, "n_updates": 30, "random_state": 0, **parameters}).fit(table)
    scores = rbm.score_samples(table)
    rbm.save(tmp_path / "model.safetensors")
    again = hm.load(tmp_path / "model.safetensors")
    assert again.get_params() == rbm.get_params()
    np.testing.assert_array_equal(again.score_samples(table), scores)
    np.testing.assert_array_equal(again.transform(table), rbm.transform(table))
    np.testing.assert_array_equal(again.components_, rbm.components_)
    assert again.history_ == rbm.history_
    assert again.log_partition_ == rbm.log_partition_
    for one, other in zip(again.stages_, rbm.stages_, strict=True):
        np.testing.assert_array_equal(one.couplings[0].weights, other.couplings[0].weights)
    assert len(again.stages_) == parameters.get("stages", 0)
    again.partial_fit(table)
    assert again.n_updates_ > 0


def test_names_of_columns_come_back(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X, schema=[f"c{i}" for i in range(5)])
    rbm = hm.RBM(2, n_updates=10, random_state=0).fit(frame)
    rbm.save(tmp_path / "model.safetensors")
    again = hm.load(tmp_path / "model.safetensors")
    assert again.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3", "c4"]
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame.select(frame.columns[::-1]))


def test_what_is_no_model_is_refused(tmp_path):
    hm.RBM(2, n_updates=20, checkpoint=str(tmp_path / "run"), random_state=0).fit(X)
    with pytest.raises(ArtifactError, match="checkpoint of a run"):
        hm.load(tmp_path / "run" / "checkpoint.safetensors")
    with pytest.raises(ValueError, match="not fitted"):
        hm.RBM().save(tmp_path / "model.safetensors")


class StopError(Exception):
    """A run cut short."""


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"optimizer": "adam", "validation_fraction": 0.2, "dtype": "float64"},
        {"method": "pt", "n_temperatures": 3, "stages": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("at", [1, 3])
def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path, monkeypatch, settings, at):
    """Cut after some chunks, its last checkpoint written then; also where chance chose the seed."""
    monkeypatch.setattr("harmonium.training.loop.CHUNK_WORK", 40 * 5 * 3 * 7)  # chunks of few steps
    monkeypatch.setattr(keeping, "INTERVAL", 0.0)
    folder = tmp_path / "run"
    parameters = {"n_components": 3, "n_updates": 100, "batch_size": 15, "patience": None, **settings}
    whole = hm.RBM(**parameters, random_state=7).fit(X)
    keep, calls = keeping.Keeper.keep, []

    def kept(self, course):
        keep(self, course)
        calls.append(int(course.state.step))
        if len(calls) == at:
            raise StopError

    monkeypatch.setattr(keeping.Keeper, "keep", kept)
    with pytest.raises(StopError):
        hm.RBM(**parameters, checkpoint=folder, random_state=7).fit(X)
    monkeypatch.setattr(keeping.Keeper, "keep", keep)
    assert 0 < calls[-1] < 100
    resumed = hm.RBM(**parameters, checkpoint=folder, resume=True, random_state=None).fit(X)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.history_ == whole.history_
    assert resumed.n_updates_ == 100
    stages = [[np.asarray(m.couplings[0].weights) for m in model.stages_] for model in (resumed, whole)]
    np.testing.assert_array_equal(*stages)
    assert len(stages[0]) == settings.get("stages", 0)


def test_a_finished_run_stays_as_it_is(tmp_path):
    first = hm.RBM(2, n_updates=20, checkpoint=tmp_path, random_state=0).fit(X)
    again = hm.RBM(2, n_updates=20, checkpoint=tmp_path, resume=True, random_state=1).fit(X)
    np.testing.assert_array_equal(first.components_, again.components_)


def test_another_run_is_never_overwritten_nor_taken_for_this_one(tmp_path):
    hm.RBM(2, n_updates=20, checkpoint=tmp_path, random_state=0).fit(X)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(hm.ArgumentError, match="resume=True"):
        hm.RBM(2, n_updates=20, checkpoint=tmp_path).fit(X)
    with pytest.raises(ArtifactError, match=r"l1 = 0.0; wanted 0.5"):
        hm.RBM(2, n_updates=20, l1=0.5, checkpoint=tmp_path, resume=True).fit(X)
    with pytest.raises(ArtifactError, match="data = "):
        hm.RBM(2, n_updates=20, checkpoint=tmp_path, resume=True).fit(1 - X)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
