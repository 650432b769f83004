"""Data as rows of real numbers: read and checked once, given out as weighted batches of one shape."""

from harmonium.data.batches import Batches
from harmonium.data.encoding import Codes, Encoding, Plain, Standardised
from harmonium.data.numeric import ArgumentTypeError
from harmonium.data.prefetch import prefetch
from harmonium.data.rows import Rows, read
from harmonium.data.summary import Summary
from harmonium.data.weights import check_weights

__all__ = [
    "ArgumentTypeError",
    "Batches",
    "Codes",
    "Encoding",
    "Plain",
    "Rows",
    "Standardised",
    "Summary",
    "check_weights",
    "prefetch",
    "read",
]
