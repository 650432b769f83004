"""Energy-based models: restricted, general and deep Boltzmann machines over any types of data.

Names are loaded when first used, so that ``import harmonium`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harmonium import datasets
    from harmonium.build import boltzmann, deep, ising, rbm
    from harmonium.couplings import Dense, Edges, Within
    from harmonium.errors import ArgumentError, DivergenceError, NotNormalisableError
    from harmonium.estimators import RBM, BernoulliRBM, load
    from harmonium.estimators.displays import (
        AutocorrelationDisplay,
        FiltersDisplay,
        HistoryDisplay,
        MomentsDisplay,
        SamplesDisplay,
        WeightsDisplay,
    )
    from harmonium.gauge import Gauge, zero_sum
    from harmonium.likelihood import exact
    from harmonium.likelihood.interval import Interval
    from harmonium.machine import Machine
    from harmonium.sampling import Keep, Moments, Statistics, exchanged, key, run, sample, stages, temperatures
    from harmonium.units import Bernoulli, Binomial, Categorical, DualRectified, Gaussian, Rectified, Spin

_HOME = {
    **dict.fromkeys(
        ["Bernoulli", "Binomial", "Categorical", "DualRectified", "Gaussian", "Rectified", "Spin"], "harmonium.units"
    ),
    **dict.fromkeys(["Dense", "Edges", "Within"], "harmonium.couplings"),
    **dict.fromkeys(["boltzmann", "deep", "ising", "rbm"], "harmonium.build"),
    **dict.fromkeys(["ArgumentError", "DivergenceError", "NotNormalisableError"], "harmonium.errors"),
    **dict.fromkeys(["RBM", "BernoulliRBM", "load"], "harmonium.estimators"),
    **dict.fromkeys(
        [
            "AutocorrelationDisplay",
            "FiltersDisplay",
            "HistoryDisplay",
            "MomentsDisplay",
            "SamplesDisplay",
            "WeightsDisplay",
        ],
        "harmonium.estimators.displays",
    ),
    **dict.fromkeys(["Gauge", "zero_sum"], "harmonium.gauge"),
    **dict.fromkeys(
        ["Keep", "Moments", "Statistics", "exchanged", "key", "run", "sample", "stages", "temperatures"],
        "harmonium.sampling",
    ),
    "Machine": "harmonium.machine",
    "datasets": "harmonium",
    "exact": "harmonium.likelihood",
    "Interval": "harmonium.likelihood.interval",
}

_MODULES = ("datasets", "exact")

__version__ = "0.1.0"
__all__ = [
    "RBM",
    "ArgumentError",
    "AutocorrelationDisplay",
    "Bernoulli",
    "BernoulliRBM",
    "Binomial",
    "Categorical",
    "Dense",
    "DivergenceError",
    "DualRectified",
    "Edges",
    "FiltersDisplay",
    "Gauge",
    "Gaussian",
    "HistoryDisplay",
    "Interval",
    "Keep",
    "Machine",
    "Moments",
    "MomentsDisplay",
    "NotNormalisableError",
    "Rectified",
    "SamplesDisplay",
    "Spin",
    "Statistics",
    "WeightsDisplay",
    "Within",
    "boltzmann",
    "datasets",
    "deep",
    "exact",
    "exchanged",
    "ising",
    "key",
    "load",
    "rbm",
    "run",
    "sample",
    "stages",
    "temperatures",
    "zero_sum",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'harmonium' has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"{_HOME[name]}.{name}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
