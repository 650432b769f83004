"""Markov chains over the configurations of a machine."""

from harmonium.sampling.folds import Fold, Keep, Moments, Statistics
from harmonium.sampling.keys import key
from harmonium.sampling.ladder import exchanged
from harmonium.sampling.runner import run, sample
from harmonium.sampling.tempering import temperatures
from harmonium.sampling.trajectory import stages

__all__ = ["Fold", "Keep", "Moments", "Statistics", "exchanged", "key", "run", "sample", "stages", "temperatures"]
