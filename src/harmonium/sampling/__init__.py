"""Markov chains over the configurations of a machine."""

from harmonium.sampling.folds import Fold, Keep, Moments, Statistics
from harmonium.sampling.keys import key
from harmonium.sampling.runner import run, sample

__all__ = ["Fold", "Keep", "Moments", "Statistics", "key", "run", "sample"]
