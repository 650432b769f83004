"""Estimators with scikit-learn's interface: the only room that knows scikit-learn."""

from harmonium.estimators.account import Account, account, held_out, independent
from harmonium.estimators.bernoulli_rbm import BernoulliRBM
from harmonium.estimators.files import load
from harmonium.estimators.rbm import RBM

SAVED = ("RBM",)
"""The estimators that a file can hold."""

__all__ = ["RBM", "Account", "BernoulliRBM", "account", "held_out", "independent", "load"]
