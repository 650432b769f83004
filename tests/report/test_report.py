"""Pictures, the mixture that models are held against, and the page."""

from itertools import product

import numpy as np
import pytest

from harmonium.errors import ArgumentError
from harmonium.report import pictures
from harmonium.report.mixture import Mixture
from harmonium.report.page import Summary

CHANCE = np.random.default_rng(0)


def test_tiles_are_the_rows():
    rows = CHANCE.random((5, 6))
    tiles = pictures.tiled(rows, (2, 3), 2)
    assert tiles.shape == (3 * 3 + 1, 2 * 4 + 1)
    np.testing.assert_array_equal(tiles[4:6, 5:8], rows[3].reshape(2, 3))
    assert tiles.mask.sum() == tiles.size - rows.size  # lines, and the place of the sixth
    assert (tiles.data[tiles.mask] == 0).all()  # matplotlib computes with it
    with pytest.raises(ArgumentError, match=r"wanted height × width = 6"):
        pictures.tiled(rows, (3, 3), 2)


def test_filters_are_the_strongest():
    weights = np.arange(1, 13)[:, None] * np.ones((12, 4))
    figure = pictures.filters(CHANCE.permutation(weights), (2, 2), n=3)
    shown = figure.axes[0].images[0].get_array()
    assert sorted(np.unique(shown.compressed())) == [10, 11, 12]
    assert figure.axes[0].get_title() == "Weights of 3 of 12 hidden units"
    pictures.filters(np.zeros((2, 4)), (2, 2)).draw_without_rendering()


def test_rows_as_images():
    figure = pictures.rows_as_images(np.ones((3, 4)), (2, 2), "ones")
    figure.draw_without_rendering()
    assert figure.axes[0].get_title() == "ones"


def test_history_has_a_panel_for_each_monitor():
    found = {"step": [1, 2], "epoch": [0.5, 1.0], "pseudo_likelihood": [-3.0, -2.0], "reconstruction_error": [2.0, 1.0]}
    figure = pictures.history(found)
    assert [axes.get_ylabel() for axes in figure.axes] == ["pseudo likelihood", "reconstruction error"]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_xydata(), [[1, -3], [2, -2]])
    pictures.history({"step": [1], "epoch": [1.0]}).draw_without_rendering()


def test_the_demonstration_clips_no_text():
    """Every text lies in the figure, and no two of them touch."""
    found = {"step": [500, 10_000], "epoch": [1.0, 2.0], "validation_log_likelihood": [-21.0, -16.8]}
    levels = {"the model, test rows": -17.1, "mixture, test rows": -18.0, "independent, test rows": -25.3}
    rows = CHANCE.integers(0, 2, (70, 64))
    figure = pictures.demo(rows, rows, CHANCE.normal(size=(128, 64)), (8, 8), found, levels)
    figure.draw_without_rendering()
    boxes = []
    for axes in figure.axes:
        texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        boxes += [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) == 4 + 2 + 1 + 3
    width, height = figure.canvas.get_width_height()
    for i, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_mixture_sums_to_one():
    rows = CHANCE.integers(0, 2, (40, 6))
    mixture = Mixture.fit(rows, 3)
    everything = np.array(list(product((0, 1), repeat=6)))
    assert np.exp(mixture.log_likelihood(everything)).sum() == pytest.approx(1)


def test_a_mixture_finds_what_is_there():
    """Two kinds of rows: more likely with two components than with one, and than at the start."""
    kinds = np.array([[0.9] * 4 + [0.1] * 4, [0.1] * 4 + [0.9] * 4])
    rows = (CHANCE.random((400, 8)) < kinds[CHANCE.integers(0, 2, 400)]).astype(int)
    known = Mixture(np.array([0.5, 0.5]), kinds).log_likelihood(rows).mean()
    assert Mixture.fit(rows, 2).log_likelihood(rows).mean() > known - 0.02
    assert Mixture.fit(rows, 1).log_likelihood(rows).mean() < known - 0.5
    share = (rows.sum(0) + 0.5) / 401
    alone = np.log(np.where(rows == 1, share, 1 - share)).sum(1)
    np.testing.assert_allclose(Mixture.fit(rows, 1).log_likelihood(rows), alone)
    assert len(Mixture.best(rows, rows, (1, 2)).shares) == 2


def test_each_step_of_a_mixture_climbs():
    rows = CHANCE.integers(0, 2, (100, 6))
    climbed = [Mixture.fit(rows, 4, n_steps=n).log_likelihood(rows).mean() for n in (1, 5, 20)]
    assert climbed == sorted(climbed)


def test_a_page_escapes_and_a_text_is_aligned():
    summary = Summary("A < B", ["x & y"], [("who", "n"), ("<me>", "12.5"), ("you", "3")], ["so."], [("Why", "a <b>")])
    page, text = summary.page(b"\x89PNG", 'what "it" is'), summary.text()
    assert "<h1>A &lt; B</h1>" in page
    assert "x &amp; y" in page
    assert "<me>" not in page
    assert "a &lt;b&gt;" in page
    assert 'alt="what &quot;it&quot; is"' in page
    assert "<me> | 12.5\nyou  |    3\n" in text
    assert "    a <b>\n" in text
