"""What the report shows: tiles, moments, mixing, couplings, the plain mixture, the page; each where it is known."""

import re
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.figure import Figure

import harmonium as hm
from harmonium.errors import ArgumentError
from harmonium.report import couplings, course, images, ink, mixing, moments, page, poster
from harmonium.report.mixture import Mixture
from harmonium.report.summary import Summary
from harmonium.report.verdicts import Verdict

CHANCE = np.random.default_rng(0)


def test_tiles_are_the_rows():
    rows = CHANCE.random((5, 6))
    tiles = images.tiled(rows, (2, 3), 2)
    assert tiles.shape == (3 * 3 + 1, 2 * 4 + 1)
    np.testing.assert_array_equal(tiles[4:6, 5:8], rows[3].reshape(2, 3))
    assert tiles.mask.sum() == tiles.size - rows.size  # lines, and the place of the sixth
    assert (tiles.data[tiles.mask] == 0).all()  # matplotlib computes with it
    with pytest.raises(ArgumentError, match=r"wanted height × width = 6"):
        images.tiled(rows, (3, 3), 2)


def test_filters_are_the_strongest():
    weights = np.arange(1, 13)[:, None] * np.ones((12, 4))
    axes = Figure().subplots()
    image = images.draw_filters(axes, CHANCE.permutation(weights), (2, 2), n=3)
    assert sorted(np.unique(image.get_array().compressed())) == [10, 11, 12]
    images.draw_filters(Figure().subplots(), np.zeros((2, 4)), (2, 2))


@pytest.mark.parametrize(("n", "binary", "shape"), [(784, True, (28, 28)), (64, True, (8, 8)), (49, True, None),
                                                    (112, True, None), (784, False, None)])  # fmt: skip
def test_the_shape_of_images(n, binary, shape):
    assert images.inferred(n, binary) == shape


def test_panels_of_the_course():
    found = {"step": [1, 2], "epoch": [0.5, 1.0], "reconstruction_error": [2.0, 1.0], "log_likelihood": [-3.0, -2.0],
             "validation_log_likelihood": [-3.5, -3.0], "dead_units": [0, 0], "saturated_units": [0, 0]}  # fmt: skip
    assert course.panels(found) == ["validation_log_likelihood", "reconstruction_error"]
    assert "dead_units" in course.panels(found | {"saturated_units": [0, 1]})
    axes = Figure().subplots()
    course.draw(axes, found, "validation_log_likelihood")
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[1, -3.5], [2, -3]])
    np.testing.assert_array_equal(axes.lines[1].get_xydata(), [[1, -3], [2, -2]])
    assert course.panels({"step": [1], "epoch": [1.0]}) == []


def test_moments_of_one_law_differ_by_what_chance_makes():
    """Over 190 pairs and 20 means the root mean square is within a factor 1.5 of what it is on average (p < 1e-4)."""
    mixing_matrix = CHANCE.normal(size=(20, 20))
    data, model = (CHANCE.normal(size=(n, 20)) @ mixing_matrix for n in (800, 2000))
    for found in moments.compare(data, model):
        assert found.noise / 2 < found.distance < 2 * found.noise
    means, pairs = moments.compare(data, data)
    assert means.distance == pairs.distance == 0
    np.testing.assert_allclose(pairs.data, np.cov(data.T, bias=True)[np.triu_indices(20, 1)])
    assert len(moments.compare(CHANCE.random((10, 120)), CHANCE.random((10, 120)))[1].data) == moments.PAIRS
    assert moments.compare(data + 3, model)[0].distance == pytest.approx(3, rel=0.1)


def test_the_autocorrelation_of_a_known_chain():
    """AR(1): ρ_k = φ^k, to 0.03 in 100,000 draws of 50 chains (standard error 0.008)."""
    values = np.empty((50, 2000))
    values[:, 0] = CHANCE.normal(size=50)
    for t in range(1, 2000):
        values[:, t] = 0.9 * values[:, t - 1] + np.sqrt(1 - 0.81) * CHANCE.normal(size=50)
    found = mixing.Traces(values, 5)
    np.testing.assert_allclose(found.autocorrelation[:20], 0.9 ** np.arange(20), atol=0.03)
    assert found.half_life in (6 * 5, 7 * 5, 8 * 5)  # log ½ / log 0.9 = 6.6
    assert abs(found.memory) < 0.05
    apart = mixing.Traces(CHANCE.normal(size=(50, 40)) + 10.0 * np.arange(50)[:, None], 1)
    assert apart.memory > 0.95
    assert apart.half_life is None
    assert mixing.Traces(np.ones((2, 8)), 1).memory == 1


def test_couplings_are_second_derivatives_of_the_free_energy(float64):
    machine = hm.rbm(hm.Bernoulli(4), hm.Bernoulli(3), key=hm.key(0), scale=1.0)
    rows = jnp.asarray(CHANCE.integers(0, 2, (6, 4)), float)
    second = jax.vmap(jax.hessian(lambda v: -machine.free_energy((v[None], None))[0]))(rows).mean(0)
    variances = machine.layers[1].variance(machine.inputs_from_others((rows, None), 1)).mean(0)
    found = couplings.effective(np.asarray(machine.couplings[0].weights).T, np.asarray(variances))
    np.testing.assert_allclose(found, second, atol=1e-10)
    names, column = ["a", "b = 0", "b = 1", "c"], np.array([0, 1, 1, 2])
    strongest = couplings.pairs(found, names, column, 3)
    sizes = {(names[i], names[j]): found[i, j] for i, j in ((0, 1), (0, 2), (0, 3), (1, 3), (2, 3))}
    assert [(p.first, p.second) for p in strongest] == sorted(sizes, key=lambda pair: -abs(sizes[pair]))[:3]
    assert couplings.readings(np.array([[1.0, -2.0, 0.0]]), ["x", "y", "z"]) == [(0, "x", "y")]


@pytest.mark.parametrize("layer", [hm.Bernoulli(3), hm.Spin(3), hm.Binomial(3, 2), hm.Categorical((2, 3))])
def test_a_mixture_sums_to_one(layer):
    states = list(np.asarray(layer.states()))
    everything = jnp.asarray(np.array(list(product(states, repeat=layer.n))), jnp.float32)
    some = everything[CHANCE.integers(0, len(everything), 30)]
    mixture = Mixture.fit(layer, some, 3)
    assert np.exp(mixture.log_likelihood(everything)).sum() == pytest.approx(1, abs=1e-4)


def test_a_mixture_of_gaussians_integrates_to_one():
    grid = jnp.linspace(-12, 12, 4001)[:, None]
    values = jnp.asarray(np.concatenate([CHANCE.normal(-2, 0.5, 200), CHANCE.normal(2, 1, 200)])[:, None], jnp.float32)
    mixture = Mixture.fit(hm.Gaussian(1), values, 2)
    assert np.exp(mixture.log_likelihood(grid)).sum() * 24 / 4000 == pytest.approx(1, abs=1e-3)
    assert (
        mixture.log_likelihood(values).mean()
        > Mixture.fit(hm.Gaussian(1), values, 1).log_likelihood(values).mean() + 0.3
    )


def test_a_mixture_finds_what_is_there():
    """Two kinds of rows: more likely with two components than with one, and each step climbs."""
    kinds = np.array([[0.9] * 4 + [0.1] * 4, [0.1] * 4 + [0.9] * 4])
    rows = (CHANCE.random((400, 8)) < kinds[CHANCE.integers(0, 2, 400)]).astype(np.float32)
    unit, values = hm.Bernoulli(8), jnp.asarray(rows)
    each = np.log(np.where(rows[:, None] == 1, kinds[None], 1 - kinds[None])).sum(2)
    known = np.logaddexp(*each.T).mean() - np.log(2)
    climbed = [Mixture.fit(unit, values, 2, n_steps=n).log_likelihood(values).mean() for n in (1, 3, 40)]
    assert climbed == sorted(climbed)
    assert climbed[-1] > known - 0.02
    share = (rows.sum(0) + 0.5) / 401
    alone = np.log(np.where(rows == 1, share, 1 - share)).sum(1)
    np.testing.assert_allclose(Mixture.fit(unit, values, 1).log_likelihood(values), alone, rtol=1e-4)
    assert len(Mixture.best(unit, values, values, (1, 2)).shares) == 2


def test_a_figure_takes_the_colours_of_its_page():

    def drawn():
        with ink.page_style():
            figure = ink.blank()
            figure.subplots().set(xlabel="a < b")
        return ink.svg(figure, 'what "it" is')

    text = drawn()
    assert text == drawn()
    assert 'aria-label="what &quot;it&quot; is"' in text
    assert "var(--text)" in text
    assert ink.TEXT not in text
    assert ink.QUIET not in text
    assert ">a &lt; b</text>" in text
    assert not re.search(r"https?://", text)
    assert re.search(r"<(?!/)[a-z]+[^>]* id=\"(figure|axes|text|patch)_", text) is None


def test_a_page_escapes():
    text = page.page("A < B", [
        page.paragraph("x & y"), page.facts({"<who>": "me"}), page.verdicts([Verdict(True, "a > b"), Verdict(None, "c")]),
        page.table(("who", "n"), [("<me>", page.number(-1234.5))], 1), page.code("Why", "a <b>"), page.paragraph(""),
    ])  # fmt: skip
    assert "<title>A &lt; B</title>" in text
    assert "x &amp; y" in text
    assert "<me>" not in text
    assert '<td class="number">−1,234.50</td>' in text
    assert "a &lt;b&gt;" in text
    assert '<li class="good">a &gt; b</li><li class="so">c</li>' in text
    assert "<p></p>" not in text


def test_a_summary_is_aligned():
    summary = Summary("A < B", ["x & y"], [("who", "n"), ("<me>", "12.5"), ("you", "3")], ["so."], [("Why", "a <b>")])
    assert "<me> | 12.5\nyou  |    3\n" in summary.text()
    assert "    a <b>\n" in summary.text()


def test_the_poster_clips_no_text():
    """Every text lies in the figure, and no two of them touch."""
    found = {"step": [500, 10_000], "epoch": [1.0, 2.0], "validation_log_likelihood": [-21.0, -16.8]}
    levels = {"the model, test rows": -17.1, "mixture, test rows": -18.0, "independent, test rows": -25.3}
    rows = CHANCE.integers(0, 2, (70, 64))
    figure = poster.draw(rows, rows, CHANCE.normal(size=(128, 64)), (8, 8), found, levels)
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
