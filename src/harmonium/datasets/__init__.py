"""Public binary data sets that the field compares on, checked against known digests, and two that need no file."""

from harmonium.datasets.catalogue import names
from harmonium.datasets.made import bars_and_stripes, digits
from harmonium.datasets.places import DatasetError
from harmonium.datasets.published import PublishedRBM, Splits, load, published_rbm

__all__ = ["DatasetError", "PublishedRBM", "Splits", "bars_and_stripes", "digits", "load", "names", "published_rbm"]
