"""scikit-learn's BernoulliRBM, with its parameters and attributes and without its defects."""

import time
import warnings
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from rich.console import Console
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harmonium import build, sampling
from harmonium.data import Batches, Plain, Rows, read
from harmonium.estimators import encoded
from harmonium.estimators.encoded import Encoded, over_rows
from harmonium.estimators.fitting import Encode
from harmonium.estimators.settings import Constraint, Number, OneOf, Whole, check
from harmonium.learning import Likelihood, Persistent
from harmonium.machine import Machine
from harmonium.training import Course, Run, Schedule, State, Watch, follow, optimiser
from harmonium.training.course import Row
from harmonium.units import Bernoulli


class BernoulliRBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Bernoulli restricted Boltzmann machine, in place of the class of this name in scikit-learn.

    Parameters, attributes and their meaning are the same; learning is by persistent contrastive divergence (Tieleman
    2008) at a constant rate. Different are: a batch of fewer than ``batch_size`` rows is learned from rightly, also in
    ``partial_fit``; ``score_samples`` is exact and does not vary from call to call; ``partial_fit`` returns the
    estimator; rows are shuffled anew in each epoch; values outside [0, 1] are warned of; computations are in float32.
    ``harmonium.RBM`` learns better, and has a likelihood.

    Parameters
    ----------
    n_components : int, default=256
        Hidden units.
    learning_rate : float, default=0.1
        The rate.
    batch_size : int, default=10
        Rows in a batch, and persistent chains.
    n_iter : int, default=10
        Passes over the data.
    verbose : int, default=0
        Whether to print the pseudo-likelihood after each pass.
    random_state : int, RandomState instance or None, default=None
        Where chance begins.

    Attributes
    ----------
    intercept_hidden_ : ndarray of shape (n_components,)
        The biases of the hidden units.
    intercept_visible_ : ndarray of shape (n_features,)
        The biases of the visible units.
    components_ : ndarray of shape (n_components, n_features)
        The weights.
    h_samples_ : ndarray of shape (batch_size, n_components)
        The hidden side of the persistent chains.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import BernoulliRBM
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> BernoulliRBM(n_components=2, random_state=0).fit(X).transform(X).shape
    (4, 2)
    """

    components_: np.ndarray
    _allowed: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": (Whole(),),
        "learning_rate": (Number(0.0, closed=False),),
        "batch_size": (Whole(),),
        "n_iter": (Whole(0),),
        "verbose": (Whole(0), OneOf((True, False))),
    }

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 10,
        n_iter: int = 10,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "BernoulliRBM":
        """Learn from the rows of X, anew.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Values in [0, 1].
        y : None
            Ignored.

        Returns
        -------
        self
        """
        check(self.get_params(), self._allowed)
        rows = read(X)
        self._begin(X, rows)
        with jax.enable_x64(False):
            self._learn(rows, int(self.batch_size), int(self.n_iter))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "BernoulliRBM":
        """Make one update from the rows of X, all of them one batch.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Values in [0, 1].
        y : None
            Ignored.

        Returns
        -------
        self
        """
        check(self.get_params(), self._allowed)
        rows = read(X)
        if hasattr(self, "components_"):
            validate_data(self, X, reset=False, skip_check_array=True)
            self._warn(rows)
        else:
            self._begin(X, rows)
        with jax.enable_x64(False):
            self._learn(rows, rows.n_rows, 1, brief=True)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The probabilities of the hidden units given rows, P(h = 1 | v).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self._of_rows(encoded.hidden_means, X).astype(self.components_.dtype, copy=False)

    def gibbs(self, v: Any) -> np.ndarray:
        """Rows after one Gibbs step.

        Parameters
        ----------
        v : array of shape (n_samples, n_features)
            Where to begin.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if not hasattr(self, "random_state_"):
            self.random_state_ = check_random_state(self.random_state)
        key = sampling.key(int(self.random_state_.randint(2**31 - 1)))
        return self._of_rows(encoded.swept, v, key, jnp.asarray(1)) > 0

    def score_samples(self, X: Any) -> np.ndarray:
        """The log pseudo-likelihood of rows, Σᵢ log p(vᵢ | the others); scikit-learn draws one i by chance.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._of_rows(encoded.log_pseudolikelihood, X).astype(float)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _begin(self, X: Any, rows: Rows) -> None:
        """Small random weights, and chains at zero."""
        validate_data(self, X, skip_check_array=True)
        self._warn(rows)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        self.random_state_ = check_random_state(self.random_state)
        self.components_ = self.random_state_.normal(0, 0.01, (self.n_components, rows.n_columns)).astype(dtype)
        self.intercept_hidden_ = np.zeros(self.n_components, dtype)
        self.intercept_visible_ = np.zeros(rows.n_columns, dtype)
        self.h_samples_ = np.zeros((self.batch_size, self.n_components), dtype)

    def _learn(self, rows: Rows, batch_size: int, n_epochs: int, *, brief: bool = False) -> None:
        """Some passes over rows, from the attributes as they are and back into them."""
        seed = int(self.random_state_.randint(2**31 - 1))
        schedule = Schedule(jnp.asarray(self.learning_rate, float), jnp.asarray(1))
        objective = Likelihood(Persistent(len(self.h_samples_)), centred=False)
        run = Run(objective, optimiser("sgd", schedule), Encode(Plain()), emphasis=None)
        course = Course(_start(run, jnp.asarray(seed), *self._arrays(), jnp.asarray(self.h_samples_, float)))
        batches = Batches(rows, batch_size, seed)
        until = n_epochs * batches.steps_per_epoch
        begun = time.perf_counter()

        def look(state: State[Machine]) -> Row:
            found = over_rows(encoded.log_pseudolikelihood, Encoded(state.model, Plain(), None), rows).mean()
            epoch = int(state.step) // batches.steps_per_epoch
            Console(soft_wrap=True, highlight=False, markup=False).print(
                f"[{type(self).__name__}] Iteration {epoch}, pseudo-likelihood = {found:.2f}, "
                f"time = {time.perf_counter() - begun:.2f}s"
            )
            return {}

        watch = Watch(batches.steps_per_epoch, look) if self.verbose else Watch(until + 1, lambda _: {})
        for reached in follow(run, course, batches, until, watch, brief=brief):
            course = reached
        dtype, learned = self.components_.dtype, course.state.model
        self.components_ = np.asarray(learned.couplings[0].weights, dtype).T
        self.intercept_visible_ = np.asarray(learned.layers[0].bias, dtype)
        self.intercept_hidden_ = np.asarray(learned.layers[1].bias, dtype)
        self.h_samples_ = np.asarray(course.state.objective[0][1], dtype)

    def _arrays(self) -> tuple[Array, Array, Array]:
        """The attributes, which a user may have set."""
        given = (self.intercept_visible_, self.intercept_hidden_, self.components_.T)
        a, b, weights = (jnp.asarray(array, float) for array in given)
        return a, b, weights

    def _model(self) -> Encoded:
        return Encoded(_machine(*self._arrays()), Plain(), None)

    def _of_rows(self, function: Any, X: Any, *rest: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = read(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        self._warn(rows)
        with jax.enable_x64(False):
            return over_rows(function, self._model(), rows, *rest)

    def _warn(self, rows: Rows) -> None:
        summary = rows.summary()
        outside = np.flatnonzero((summary.minimum < 0) | (summary.maximum > 1))
        if not len(outside):
            return
        names = rows.column_names or range(rows.n_columns)
        shown = ", ".join(repr(names[i]) for i in outside[:5].tolist()) + ", …" * (len(outside) > 5)
        warnings.warn(
            f"{len(outside)} of {rows.n_columns} columns have values outside [0, 1]: {shown}. "
            "They are no probabilities; scale them, or use harmonium.RBM with visible='gaussian'.",
            UserWarning,
            stacklevel=4,
        )


def _machine(visible: Array, hidden: Array, weights: Array) -> Machine:
    return build.rbm(Bernoulli(visible), Bernoulli(hidden), weights)


@eqx.filter_jit
def _start(
    run: Run[Machine], seed: Array, visible: Array, hidden: Array, weights: Array, hidden_side: Array
) -> State[Machine]:
    """The state of a run with these parameters, and chains with this hidden side. Compiled, for ``partial_fit``."""
    state = run.start(sampling.key(seed), _machine(visible, hidden, weights), (jnp.zeros_like(visible),))
    chains = (jnp.zeros((len(hidden_side), len(visible))), hidden_side)
    started: State[Machine] = eqx.tree_at(lambda s: s.objective[0], state, chains)
    return started
