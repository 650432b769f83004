"""Energy-based models: restricted, general and deep Boltzmann machines over any types of data.

Names are loaded when first used, so that ``import harmonium`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harmonium.build import boltzmann, deep, ising, rbm
    from harmonium.couplings import Dense, Edges, Within
    from harmonium.errors import ArgumentError, NotNormalisableError
    from harmonium.gauge import Gauge, zero_sum
    from harmonium.likelihood import exact
    from harmonium.machine import Machine
    from harmonium.sampling import Keep, Moments, Statistics, key, run, sample
    from harmonium.units import Bernoulli, Binomial, Categorical, DualRectified, Gaussian, Rectified, Spin

_HOME = {
    **dict.fromkeys(
        ["Bernoulli", "Binomial", "Categorical", "DualRectified", "Gaussian", "Rectified", "Spin"], "harmonium.units"
    ),
    **dict.fromkeys(["Dense", "Edges", "Within"], "harmonium.couplings"),
    **dict.fromkeys(["boltzmann", "deep", "ising", "rbm"], "harmonium.build"),
    **dict.fromkeys(["ArgumentError", "NotNormalisableError"], "harmonium.errors"),
    **dict.fromkeys(["Gauge", "zero_sum"], "harmonium.gauge"),
    **dict.fromkeys(["Keep", "Moments", "Statistics", "key", "run", "sample"], "harmonium.sampling"),
    "Machine": "harmonium.machine",
    "exact": "harmonium.likelihood",
}

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Dense",
    "DualRectified",
    "Edges",
    "Gauge",
    "Gaussian",
    "Keep",
    "Machine",
    "Moments",
    "NotNormalisableError",
    "Rectified",
    "Spin",
    "Statistics",
    "Within",
    "boltzmann",
    "deep",
    "exact",
    "ising",
    "key",
    "rbm",
    "run",
    "sample",
    "zero_sum",
]


def __getattr__(name: str) -> object:
    if name == "exact":
        return import_module("harmonium.likelihood.exact")
    if name not in _HOME:
        raise AttributeError(f"module 'harmonium' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
