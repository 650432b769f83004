"""Unit types: what a layer's data can be. One file each; a new type is one more file and one more line here."""

from harmonium.units.bernoulli import Bernoulli
from harmonium.units.binomial import Binomial
from harmonium.units.categorical import Categorical
from harmonium.units.dual_rectified import DualRectified
from harmonium.units.gaussian import Gaussian
from harmonium.units.rectified import Rectified
from harmonium.units.spin import Spin
from harmonium.units.unit import Unit, parameter

UNITS: tuple[type[Unit], ...] = (Bernoulli, Spin, Categorical, Binomial, Gaussian, Rectified, DualRectified)

__all__ = [
    "UNITS",
    "Bernoulli",
    "Binomial",
    "Categorical",
    "DualRectified",
    "Gaussian",
    "Rectified",
    "Spin",
    "Unit",
    "parameter",
]
