"""Rates in the course of a run."""

import jax.numpy as jnp
import numpy as np
import pytest

import harmonium as hm
from harmonium.training import Schedule

WANTED = {
    "constant": [1, 1, 1, 1, 1],
    "linear": [1, 0.75, 0.5, 0.25, 0.01],
    "cosine": [1, (2 + 2**0.5) / 4, 0.5, (2 - 2**0.5) / 4, 0.01],
    "inverse": [1, 1 / 3.25, 1 / 5.5, 1 / 7.75, 0.1],
    "late": [1, 1, 1, 0.5, 0.01],
}
"""At 0, ¼, ½, ¾ and all of the run; no rate falls below a hundredth of the first."""


@pytest.mark.parametrize("shape", WANTED)
def test_rates(shape):
    schedule = Schedule(0.2, 400, shape)
    steps = (0, 100, 200, 300, 400)
    np.testing.assert_allclose([schedule.at(jnp.asarray(t)) for t in steps], 0.2 * np.array(WANTED[shape]), rtol=1e-5)
    assert float(schedule.at(jnp.asarray(10**6))) == pytest.approx(0.2 * WANTED[shape][-1])  # past the planned end


def test_unknown_shapes_are_refused():
    with pytest.raises(hm.ArgumentError, match="schedule: found 'exponential'; wanted one of constant, linear"):
        Schedule(0.1, 10, "exponential")
