"""Inputs from bfloat16: exact where nothing is lost, gradients never rounded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from catalogue import pair

import harmonium as hm
from harmonium.learning import Exact, Likelihood, Persistent
from harmonium.learning.objective import Batch
from harmonium.learning.precision import plain, rounded


def _representable(machine):
    """The machine with weights that bfloat16 holds."""
    short = machine.couplings[0].weights.astype(jnp.bfloat16).astype(jnp.float32)
    return hm.rbm(machine.layers[0], machine.layers[1], short)


@pytest.mark.parametrize("units", [(hm.Bernoulli, hm.Spin), (hm.Spin, hm.Bernoulli), (hm.Categorical, hm.Bernoulli)])
def test_states_of_few_values_and_short_weights_lose_nothing(units):
    machine = _representable(pair(*units, (4, 3)))
    acting = rounded(machine)
    state = hm.exact.sample(hm.key(0), machine, 20)
    for layer in (0, 1):
        np.testing.assert_allclose(acting.inputs(state, layer), machine.inputs(state, layer), rtol=1e-6, atol=1e-6)
    known = (state[0], None)
    for a, b in zip(
        jax.tree.leaves(plain(acting.statistics(known))), jax.tree.leaves(machine.statistics(known)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_gradients_are_those_at_the_rounded_weights():
    """Other weights are rounded in what acts; means given those inputs enter the gradient with all their digits."""
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3))
    data = hm.exact.sample(hm.key(0), machine, 16)[0]
    batch = Batch((data,), jnp.ones(16), 16.0)
    found, short = (
        Likelihood(Persistent(8), centred=False, rounded=rounding).step(
            hm.key(1), made, ((data[:8], jnp.zeros((8, 3))), None), batch
        )[0]
        for made, rounding in ((machine, True), (_representable(machine), False))
    )
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(short), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_is_learned_is_as_likely():
    """300 exact steps, every input rounded to 8 bits or not: the log-likelihoods differ by less than 0.01 nat."""
    target = pair(hm.Bernoulli, hm.Bernoulli, (5, 3), scale=2.0, seed=3)
    data = hm.exact.sample(hm.key(0), target, 500)[0]
    scores = []
    for rounding in (False, True):
        objective = Likelihood(Exact(), rounded=rounding)
        machine = hm.rbm(hm.Bernoulli(5), hm.Bernoulli(3), key=hm.key(2), scale=0.1)
        state = objective.init(hm.key(1), machine, (data.mean(axis=0),))
        step = jax.jit(lambda m, s, o=objective: o.step(hm.key(1), m, s, Batch((data,), jnp.ones(500), 500.0)))
        for _ in range(300):
            gradient, state = step(machine, state)
            update = objective.leave(machine, objective.enter(machine, gradient, state), state)
            machine = jax.tree.map(lambda p, g: p if g is None else p + 0.5 * g, machine, update)
        scores.append(float(hm.exact.log_probability(machine, (data, None)).mean()))
    assert abs(scores[1] - scores[0]) < 0.01
