"""log Z along a ladder: right within the error it states, and that error is right."""

import numpy as np
import pytest
from catalogue import GRAPHS, pair, two_modes
from scipy import stats

import harmonium as hm
from harmonium.likelihood import bridge
from harmonium.path import base_machine

MACHINES = {"two_modes": two_modes, "table": GRAPHS["table"], "torus": GRAPHS["torus"]}


@pytest.mark.parametrize("make", MACHINES.values(), ids=MACHINES)
def test_log_partition_is_exact_within_its_error(make):
    """Student's t over chains, false alarms 1e-9 together; the machines before are weaker ones."""
    machine = make()
    before = [base_machine(machine), machine.scaled(0.3)]
    found = bridge.log_partition(machine, before, hm.key(0), n_replicas=6, n_chains=50, n_draws=100, warm_up=60)
    assert 0 < found.standard_error < 0.05
    exact = float(hm.exact.log_partition(machine))
    assert abs(found.estimate - exact) < stats.t.isf(1e-9 / 6, 49) * found.standard_error


def test_the_standard_error_is_that_of_the_estimate():
    """Estimates of 300 groups of chains spread as each says, within 20 %, and lie about log Z: false alarms 1e-6.

    All replicas start near the first, and draws follow each other at once: what they share is in the error.
    """
    machine = pair(hm.Bernoulli, hm.Bernoulli, (4, 3), scale=2.0)
    ladder = hm.stages([base_machine(machine)], 4)
    rises = hm.exchanged(machine, hm.key(0), ladder, 300 * 20, 10, warm_up=50).rises
    groups = [np.asarray(rise, float).reshape(300, 20, 10, 3) for rise in rises]
    estimates, errors = np.array([bridge.log_ratio(*pair) for pair in zip(*groups, strict=True)]).T
    said = np.sqrt(np.mean(errors**2))
    assert 0.8 < np.std(estimates, ddof=1) / said < 1.2
    wanted = float(hm.exact.log_partition(machine) - hm.exact.log_partition(ladder.before[0]))
    assert abs(estimates.mean() - wanted) < stats.t.isf(5e-7, 299) * said / np.sqrt(300) + said**2


def test_machines_that_are_one_have_a_ratio_of_one():
    zeros = np.zeros((3, 2, 1))
    assert bridge.log_ratio(zeros, zeros) == (0.0, 0.0)


def test_what_cannot_be_bridged_is_refused():
    machine = two_modes()
    with pytest.raises(hm.ArgumentError, match="before: found couplings in the first machine"):
        bridge.log_partition(machine, [machine.scaled(0.5)], hm.key(0))
    with pytest.raises(hm.ArgumentError, match="n_chains: found 1"):
        bridge.log_partition(machine, [base_machine(machine)], hm.key(0), n_chains=1)
