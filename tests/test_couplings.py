"""What couplings accept, and the two sparse forms against the dense one."""

import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import symmetric

import harmonium as hm
from harmonium.colouring import blocks, colour
from harmonium.machine import Machine


def test_an_upper_triangular_matrix_is_refused_with_the_way_out():
    with pytest.raises(hm.ArgumentError, match=r"weights: .*each pair once, so pass U \+ Uᵀ"):
        hm.Within(np.triu(np.ones((3, 3)), 1))


def test_a_diagonal_is_refused():
    with pytest.raises(hm.ArgumentError, match="zero on the diagonal"):
        hm.Within(np.ones((3, 3)))


def test_weights_of_the_wrong_shape_name_both_layers():
    with pytest.raises(hm.ArgumentError, match=r"found shape \(3, 2\); wanted \(2, 3\)"):
        hm.rbm(hm.Bernoulli(2), hm.Bernoulli(3), np.zeros((3, 2)))


def test_weights_that_are_not_finite_are_refused():
    with pytest.raises(hm.ArgumentError, match="weights: found NaN or infinite values"):
        hm.Dense(np.array([[np.nan]]))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 0]], "from a unit to itself"),
        ([[0, 1], [1, 0]], "listed more than once"),
        ([[0, 5]], "indices from 0 to 5"),
        ([[0.5, 1.0]], "float64 of shape"),
        ([0, 1], "shape \\(2,\\)"),
    ],
)
def test_bad_edges_are_refused(edges, message):
    with pytest.raises(hm.ArgumentError, match=message):
        hm.Edges(edges, 1.0, 3)


def test_edges_masked_and_full_matrices_give_one_machine(float64):
    """The same graph as an edge list, as a mask and as zeros in a full matrix: equal energies and inputs."""
    full = np.asarray(symmetric(hm.key(0), 5))
    ring = np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1) > 0
    edges = np.argwhere(np.triu(ring))
    layer = hm.Spin(np.linspace(-1, 1, 5))
    forms = [
        hm.Edges(edges, full[tuple(edges.T)], 5),
        hm.Within(full, ring),
        hm.Within(np.where(ring, full, 0)),
    ]
    machines = [Machine({"s": layer}, {("s", "s"): form}) for form in forms]
    state = (layer.sample(hm.key(1), jnp.zeros((6, 5))),)
    for machine in machines[1:]:
        np.testing.assert_allclose(machine.energy(state), machines[0].energy(state), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(machine.inputs(state, 0), machines[0].inputs(state, 0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(machine.couplings[0].matrix(), machines[0].couplings[0].matrix())
    assert [len(machine.colours[0]) for machine in machines] == [3, 3, 5]  # an odd ring; all pairs


def test_a_mask_must_treat_all_states_of_a_unit_alike():
    mask = np.array([[[True], [False], [True]]])
    with pytest.raises(hm.ArgumentError, match="some states of a unit connected"):
        Machine(
            {"v": hm.Categorical((1, 3)), "h": hm.Bernoulli(1)},
            {("v", "h"): hm.Dense(np.ones((1, 3, 1)), mask)},
        )


def test_edges_do_not_join_one_hot_units():
    with pytest.raises(hm.ArgumentError, match="use Within with a mask"):
        Machine({"v": hm.Categorical((3, 2))}, {("v", "v"): hm.Edges([[0, 1]], 1.0, 3)})


@pytest.mark.parametrize("shape", [(4, 4), (6, 2), (8,), (4, 2, 4)])
def test_even_tori_have_two_colours(shape):
    graph = hm.ising(*shape).couplings[0].neighbours()
    colours = colour(graph)
    assert set(colours) == {0, 1}
    i, j = graph.nonzero()
    assert (colours[i] != colours[j]).all()


def test_blocks_hold_every_unit_once():
    rows = blocks(hm.ising(3, 3).couplings[0].neighbours())
    inside = rows[rows < 9]
    assert sorted(inside.tolist()) == list(range(9))


def test_machines_with_misplaced_parts_are_refused():
    layers = {"v": hm.Bernoulli(2), "h": hm.Bernoulli(2)}
    for couplings, message in (
        ({("v", "x"): hm.Dense(np.zeros((2, 2)))}, "a layer named 'x'"),
        ({("v", "v"): hm.Dense(np.zeros((2, 2)))}, "Dense for v-v"),
        ({("v", "h"): hm.Within(np.zeros((2, 2)))}, "Within for v-h"),
        ({("v", "h"): hm.Dense(np.zeros((2, 2))), ("h", "v"): hm.Dense(np.zeros((2, 2)))}, "joined twice"),
    ):
        with pytest.raises(hm.ArgumentError, match=message):
            Machine(layers, couplings)
    with pytest.raises(hm.ArgumentError, match="visible"):
        Machine(layers, {}, visible=["h"])
    with pytest.raises(hm.ArgumentError, match="state: found 1 arrays"):
        Machine(layers, {}).energy((jnp.zeros((1, 2)),))
