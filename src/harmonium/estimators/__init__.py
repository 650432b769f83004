"""Estimators with scikit-learn's interface: the only room that knows scikit-learn."""

from harmonium.estimators.account import Evaluation, account, held_out, independent
from harmonium.estimators.bernoulli_rbm import BernoulliRBM
from harmonium.estimators.files import load
from harmonium.estimators.rbm import RBM

SAVED = ("RBM",)
"""The estimators that a file can hold."""

__all__ = ["RBM", "BernoulliRBM", "Evaluation", "account", "held_out", "independent", "load"]
