"""What to climb: objectives, whose gradient is a positive phase less a negative one."""

from harmonium.learning.contrastive import Contrastive, Persistent
from harmonium.learning.exact import Exact
from harmonium.learning.likelihood import Likelihood, Negative
from harmonium.learning.objective import Batch, Objective
from harmonium.learning.penalties import Penalties
from harmonium.learning.pseudo import PseudoLikelihood
from harmonium.learning.tempered import Tempered

__all__ = [
    "Batch",
    "Contrastive",
    "Exact",
    "Likelihood",
    "Negative",
    "Objective",
    "Penalties",
    "Persistent",
    "PseudoLikelihood",
    "Tempered",
]
