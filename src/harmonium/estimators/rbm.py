"""The restricted Boltzmann machine as a scikit-learn estimator."""

import os
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harmonium import build, sampling
from harmonium.artifact import FilePath, write_bytes
from harmonium.data import Batches, Codes, Plain, Rows, check_weights, read
from harmonium.errors import ArgumentError, DivergenceError
from harmonium.estimators import encoded, files, fitting, keeping
from harmonium.estimators import visible as columns
from harmonium.estimators.account import Evaluation, account
from harmonium.estimators.encoded import Encoded, over_rows
from harmonium.estimators.keeping import Keeper
from harmonium.estimators.progress import Display
from harmonium.estimators.settings import Constraint, Instance, Number, OneOf, Whole, check
from harmonium.likelihood.interval import Interval
from harmonium.likelihood.partition import BUDGET
from harmonium.machine import Machine
from harmonium.path import base_machine
from harmonium.sampling.ladder import Ladder
from harmonium.training import Course, Journal, Run, State, Watch, follow
from harmonium.units import Bernoulli, DualRectified, Gaussian, Rectified, Spin, Unit

HIDDEN: dict[str, Callable[[Any], Unit]] = {
    "bernoulli": Bernoulli,
    "spin": Spin,
    "gaussian": Gaussian,
    "rectified": Rectified,
    "dual_rectified": DualRectified,
}
METHODS = (OneOf(("annealing", "tempering", "stages")),)
"""The ways in which rows are sampled."""

TREES = ("_model", "_state", "machine_")
"""The attributes that hold JAX's arrays."""

SHAPING = ("n_components", "visible", "hidden", "dtype")
CARRYING = ("method", "n_chains", "optimizer", "averaging")
"""Parameters that shape the machine, and what else a run carries from step to step."""


class RBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Restricted Boltzmann machine: a distribution of rows learned from unlabelled data, and features of them.

    E(v, h) = E(v) + E(h) - vᵀWh, with v the columns of the table and h the hidden units (Smolensky 1986; Hinton 2002).
    Learning climbs the log-likelihood, less a penalty on the weights; the model that is kept is an average over the
    last part of the run.

    Parameters
    ----------
    n_components : int, default=256
        Hidden units.
    visible : {"auto", "bernoulli", "spin", "categorical", "binomial", "gaussian"}, default="auto"
        What the columns are. "auto" is "bernoulli" if all values lie in [0, 1], else "gaussian". Fractions in
        "bernoulli" columns are probabilities, and enter as means. "categorical" columns hold the states 0, 1, …;
        "binomial" ones counts. "gaussian" columns are standardised inside, and have variances of their own.
    hidden : {"bernoulli", "spin", "gaussian", "rectified", "dual_rectified"}, default="bernoulli"
        The type of the hidden units.
    method : {"pcd", "pt", "cd", "exact", "pseudo"}, default="pcd"
        The negative phase: persistent chains, the same at several temperatures (parallel tempering), short chains from
        the data, a sum over all configurations (for small machines); or "pseudo", the gradient of the
        pseudo-likelihood.
    n_gibbs : int, default=1
        Gibbs sweeps in an update, for "pcd", "pt" and "cd".
    n_chains : int or None, default=None
        Persistent chains, for "pcd" and "pt" (there at each temperature); as many as ``batch_size`` if None.
    n_temperatures : int, default=10
        Temperatures, for "pt" and for ``sample`` by tempering.
    stages : int, default=0
        Machines of the run that are kept, also in the model's file: for ``sample`` by "stages".
    batch_size : int, default=100
        Rows in a batch.
    n_updates : "auto" or int, default="auto"
        Updates of the parameters, whatever the number of rows: 20,000, or 200 with "lbfgs".
    optimizer : {"sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "lbfgs"} or optax transformation
        Makes steps of gradients; "lbfgs" takes all rows at once and needs the method "exact" or "pseudo".
    learning_rate : "auto" or float, default="auto"
        The first rate: 0.1 for "sgd"; a tenth of that for "gaussian" columns, and 0.3 of it for hidden units whose
        values have no bounds.
    schedule : {"late", "constant", "linear", "cosine", "inverse"}, default="late"
        How the rate falls; "late" is constant for half of the run and then falls linearly.
    centred : bool, default=True
        Whether gradients are taken in centred variables, where which value is called 0 does not matter.
    averaging : bool, default=True
        Whether the model is the average of the parameters over the last part of the run, or the last parameters.
    l2, l1 : float, default="auto" and 0
        Penalties ½·l2·ΣW² and l1·Σ|W| on the mean log-likelihood of a row. "auto" is 4 over the number of rows.
    sparsity, sparsity_target : float, default=0 and 0.1
        Strength of a penalty on the mean activity of a hidden unit where it differs from the target.
    validation_fraction : float, default=0
        Share of the rows that is held out. The model kept is the one with the highest log-likelihood there.
    patience : int or None, default=5
        With rows held out, the number of looks without a better model after which the run stops.
    monitors : {"auto", "all", "none"} or list of str, default="auto"
        What is watched: "log_likelihood", "pseudo_likelihood", "reconstruction_error", "free_energy_gap" (of rows held
        out and learned from), "gradient_norm", "hidden_activity", "chain_memory", "swap_rate" (of "pt"). "auto" leaves
        out the first, which takes an annealing each time; with rows held out it is always watched.
    monitor_every : "auto" or int, default="auto"
        Updates between two looks of the monitors; "auto" is a twentieth of the run.
    log : path or None, default=None
        Where each look is also written down: lines of JSON if it ends in ``.jsonl``, else a folder of events for
        TensorBoard.
    dtype : {"float32", "float64"}, default="float32"
        Precision.
    precision : {"float32", "mixed"}, default="float32"
        With "mixed", what units receive is computed from numbers rounded to bfloat16, which states of 0, 1 and -1 are
        already, and weights are not; what is learned is not rounded. Of use where the processor multiplies such numbers
        faster: it gained 3 to 5 % with batches of 500 on one processor, and lost 20 % with batches of 100.
    devices : int, tuple of int or None, default=None
        Spreads rows and chains over so many (1, 2, 4 or 8) of JAX's devices, or over those of these ids. The result
        does not depend on how many there are. ``batch_size`` and ``n_chains`` must be multiples of 8; for "pcd", "cd".
    checkpoint : path or None, default=None
        A folder in which the state of the run is kept up to date.
    resume : bool, default=False
        Whether ``fit`` goes on, bit for bit, from the checkpoint in that folder, if there is one.
    verbose : int, default=0
        Whether to show the progress of a run.
    random_state : int, RandomState instance or None, default=None
        Where chance begins. With the same one, on the same machine, all results repeat.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features[, n_states])
        The weights W, transposed.
    intercept_visible_ : ndarray of shape (n_features[, n_states])
        The biases a of the columns.
    intercept_hidden_ : ndarray of shape (n_components,)
        The biases b of the hidden units.
    machine_ : Machine
        The machine, in the variables of the table.
    log_partition_ : Interval
        log Z of ``machine_``: estimate, standard error, ends, and a verdict; computed when first asked for.
    stages_ : tuple of Machine
        The machines of the run that were kept, in the variables of the table.
    history_ : dict of lists
        What was written down in the course of the run.
    n_updates_ : int
        Updates made.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import RBM
    >>> X = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 50, axis=0)
    >>> rbm = RBM(n_components=4, n_updates=2000, random_state=0).fit(X)
    >>> rbm.transform(X).shape
    (100, 4)
    >>> bool(rbm.score(X) > 2 * np.log(0.5))  # the table has one bit a row, independent columns would have four
    True
    """

    _model: Encoded
    _stages: tuple[Machine, ...]
    _state: State[Machine] | None
    _begun: dict[str, Any]
    _n_rows: float
    _allowed: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": (Whole(),),
        "visible": (OneOf(("auto", *columns.TYPES)),),
        "hidden": (OneOf(tuple(HIDDEN)),),
        **fitting.CONSTRAINTS,
        "dtype": (OneOf(("float32", "float64")),),
        "log": (OneOf((None,)), Instance(str, "a path"), Instance(os.PathLike, "a pathlib.Path")),
        "checkpoint": (OneOf((None,)), Instance(str, "the path of a folder"), Instance(os.PathLike, "a pathlib.Path")),
        "resume": (OneOf((True, False)),),
        "verbose": (Whole(0), OneOf((True, False))),
    }

    def __init__(
        self,
        n_components: int = 256,
        *,
        visible: str = "auto",
        hidden: str = "bernoulli",
        method: str = "pcd",
        n_gibbs: int = 1,
        n_chains: int | None = None,
        n_temperatures: int = 10,
        stages: int = 0,
        batch_size: int = 100,
        n_updates: str | int = "auto",
        optimizer: Any = "sgd",
        learning_rate: str | float = "auto",
        schedule: str = "late",
        centred: bool = True,
        averaging: bool = True,
        l2: str | float = "auto",
        l1: float = 0.0,
        sparsity: float = 0.0,
        sparsity_target: float = 0.1,
        validation_fraction: float = 0.0,
        patience: int | None = 5,
        monitors: Any = "auto",
        monitor_every: str | int = "auto",
        log: Any = None,
        dtype: str = "float32",
        precision: str = "float32",
        devices: int | tuple[int, ...] | None = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.visible = visible
        self.hidden = hidden
        self.method = method
        self.n_gibbs = n_gibbs
        self.n_chains = n_chains
        self.n_temperatures = n_temperatures
        self.stages = stages
        self.batch_size = batch_size
        self.n_updates = n_updates
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.centred = centred
        self.averaging = averaging
        self.l2 = l2
        self.l1 = l1
        self.sparsity = sparsity
        self.sparsity_target = sparsity_target
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.monitors = monitors
        self.monitor_every = monitor_every
        self.log = log
        self.dtype = dtype
        self.precision = precision
        self.devices = devices
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "RBM":
        """Learn the distribution of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Real numbers.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), or None
            How much each row counts: a weight of 2 is the row twice, and the sum of all the number of rows.

        Returns
        -------
        self
        """
        p = self._parameters()
        with self._precision():
            rows = read(X, dtype=self.dtype)
            weights = None if sample_weight is None else check_weights(sample_weight, rows.n_rows)
            about = keeping.about(type(self).__name__, p, rows, weights)
            keeper = Keeper(self.checkpoint, self.resume, about, self._seed())
            learned, held = fitting.split(rows.n_rows, self.validation_fraction, keeper.seed)
            n_rows = float(len(learned) if weights is None else weights[learned].sum())
            layer = self._layer(rows, weights, n_rows)
            size = fitting.batch_size(p, len(learned))
            batches = Batches(rows, size, keeper.seed, weights, places=learned, whole=True)
            fitting.require_exact(p, layer, rows)
            run = fitting.build(p, layer, n_rows)
            start = fitting.begun(run, keeper.seed, layer, HIDDEN[self.hidden], int(self.n_components))
            course = keeper.begin(Course(start))
            watch = fitting.watch(p, run, layer, rows, learned, held)
            journal = Journal(self.log, course, resumed=keeper.resumed)
            validate_data(self, X, skip_check_array=True)
            self._begin(layer, keeper.seed, n_rows)
            self._pursue(run, course, batches, fitting.n_updates(p), watch, layer, keeper, journal)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "RBM":
        """Go on learning, from the rows of X, each seen once, at the first learning rate.

        Chains, averages and the optimiser's memory go on from call to call, and from ``fit``; the parameters that
        shaped them must stay as they were. The first call settles what the columns are. A stream has no end and no rows
        held out: ``n_updates``, ``schedule``, ``validation_fraction`` and ``checkpoint`` play no part.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            More rows.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), or None
            How much each row of X counts.

        Returns
        -------
        self
        """
        p = self._parameters()
        with self._precision():
            first = not hasattr(self, "_model")
            rows = read(X, dtype=self.dtype)
            weights = None if sample_weight is None else check_weights(sample_weight, rows.n_rows)
            n_rows = float(rows.n_rows if weights is None else weights.sum())
            if not first:
                validate_data(self, X, reset=False, skip_check_array=True)
                self._require_as_begun(p)
            layer = self._layer(rows, weights, n_rows) if first else self._settled(rows)
            seen = n_rows if first else self._n_rows + n_rows
            fitting.require_exact(p, layer, rows)
            run = fitting.build(p, layer, seen, streaming=True)
            if first:
                validate_data(self, X, skip_check_array=True)
                self._begin(layer, self._seed(), 0)
            self._n_rows, size = seen, int(self.batch_size)
            if self._state is None:
                if first:
                    self._state = fitting.begun(run, self._random, layer, HIDDEN[self.hidden], int(self.n_components))
                else:
                    key = jax.random.fold_in(sampling.key(self._random), 1)
                    self._state = run.start(key, self._model.machine, (layer.mean,))
                self._begun |= {name: p[name] for name in CARRYING}
            step = int(self._state.step)
            batches = Batches(rows, size, self._random + step, weights, whole=True, first=step)
            until = step + batches.steps_per_epoch
            watch = Watch(until + 1, lambda _: {})
            course, keeper = Course(self._state), Keeper(None, False, {}, 0)
            journal = Journal(None, course, resumed=False)
            self._pursue(run, course, batches, until, watch, layer, keeper, journal, brief=True)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows: the means of the hidden units given them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self._of_rows(encoded.hidden_means, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The means of the columns given values of the hidden units.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Values of the hidden units, such as ``transform`` gives.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        with self._precision():
            hidden = read(X, dtype=self.dtype, n_columns=self._model.machine.layers[1].n)
            return over_rows(encoded.visible_means, self._model, hidden)

    def gibbs(self, X: Any, n_steps: int = 1) -> np.ndarray:
        """Rows after Gibbs sweeps that begin at the rows of X: h ~ p(h | v), then v ~ p(v | h).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        n_steps : int, default=1
            Sweeps.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check({"n_steps": n_steps}, {"n_steps": (Whole(0),)})
        return self._of_rows(encoded.swept, X, self._chance(), jnp.asarray(n_steps))

    def sample(self, n_samples: int = 1, n_steps: int = 1000, method: str = "annealing") -> np.ndarray:
        """New rows, from independent chains.

        Parameters
        ----------
        n_samples : int, default=1
            Rows.
        n_steps : int, default=1000
            Gibbs sweeps of each chain.
        method : {"annealing", "tempering", "stages"}, default="annealing"
            With "annealing", the couplings grow from zero in the first half of the sweeps. With "tempering" chains at
            ``n_temperatures`` temperatures swap what they hold; with "stages" those of machines along the run do, of
            which some must have been kept. These take as many times longer, and find modes between which chains of the
            model itself do not move.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        given = {"n_samples": n_samples, "n_steps": n_steps, "method": method}
        check(given, {"n_samples": (Whole(),), "n_steps": (Whole(2),), "method": METHODS})
        with self._precision():
            if method != "annealing":
                return np.asarray(
                    encoded.exchanged(self._model, self._chance(), self._ladder(method), int(n_samples), int(n_steps))
                )
            return np.asarray(encoded.fantasies(self._model, self._chance(), int(n_samples), jnp.asarray(n_steps)))

    def free_energy(self, X: Any) -> np.ndarray:
        """F(v) = -log Σ_h exp(-E(v, h)) of each row: low for likely ones, and comparable between rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._of_rows(encoded.free_energy, X).astype(float) - self._model.energy_shift

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of each row, log p(v) = -F(v) - log Z, in nats.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows. Fractions in "bernoulli" columns enter F as they are.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        minus_energy = -self._of_rows(encoded.free_energy, X).astype(float)
        return minus_energy - self._inner_log_partition().estimate - self._model.log_volume

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows, in nats.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        return float(np.mean(self.score_samples(X)))

    def evaluate(self, X: Any, *, width: float = 0.5, budget: int = BUDGET) -> Evaluation:
        """How likely the model finds rows, as an interval with a verdict.

        log Z is found anew: annealed chains start from the rows, too, on their way back, which shows whether the ways
        that led to log Z miss places where the rows are. The model keeps it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows.
        width : float, default=0.5
            How narrow the interval should be, in nats; it ends three standard errors from the estimate.
        budget : int, default=4_000_000
            Sweeps of one chain that it may take.

        Returns
        -------
        Evaluation
            ``log_likelihood``, the interval of the mean; ``error``, the standard error that comes of these rows being a
            sample; ``independent``, the mean log-likelihood if columns were independent; ``log_partition``; ``verdict``
            and ``reason``.
        """
        check({"width": width, "budget": budget}, {"width": (Number(),), "budget": (Whole(1000),)})
        check_is_fitted(self)
        with self._precision():
            rows = self._rows(X)
            few = rows.take(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, 1000)).astype(int))
            how = {"width": float(width), "budget": int(budget)}
            self._log_partition = self._model.log_partition(sampling.key(0), jnp.asarray(few), **how)
        return account(self, X)

    @property
    def stages_(self) -> tuple[Machine, ...]:
        """The machines of the run that were kept, in the variables of the table."""
        check_is_fitted(self)
        with self._precision():
            return tuple(Encoded(stage, self._model.encoding, None).plain for stage in self._stages)

    def _ladder(self, method: str) -> Ladder:
        """Rungs from independent units with the means of the data to the model, straight or along the run."""
        means = None if self._model.mean is None else (self._model.mean,)
        base = base_machine(self._model.machine, means)
        if method == "tempering":
            return sampling.temperatures(self._model.machine, self.n_temperatures, base=base)
        if not self._stages:
            wanted = "machines kept of the run: fit with stages=10, or use method='tempering'"
            raise ArgumentError("method", "'stages' of a model without any", wanted)
        return sampling.stages((base, *self._stages), 2 * len(self._stages) + 2)

    @property
    def log_partition_(self) -> Interval:
        """log Z of ``machine_``: exact where its configurations can be listed, else by annealed importance sampling.

        ``score`` and ``score_samples`` use it. ``evaluate`` replaces it by what it finds, with the help of rows.
        """
        check_is_fitted(self)
        return self._inner_log_partition().shifted(self._model.log_volume + self._model.energy_shift)

    def report(
        self,
        path: FilePath,
        X: Any = None,
        X_test: Any = None,
        *,
        shape: tuple[int, int] | str | None = "auto",
        title: str | None = None,
        command: str | None = None,
    ) -> None:
        """Write a page about the model: how likely it finds rows, what it learned, what is wrong, how to repeat it.

        One HTML file that needs no network, for light and dark, screens and phones. Where the model has no log Z yet,
        it is found with the help of the rows, as by ``evaluate``, and kept.

        Parameters
        ----------
        path : path
            The file, usually with the ending ``.html``.
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or None
            The table that the model learned from, for likelihoods and for the moments of data and model.
        X_test : array, sparse matrix or data frame of shape (n_test, n_features), or None
            Rows that it has not seen.
        shape : "auto", (height, width) or None, default="auto"
            That of the rows as images. "auto" takes rows of a square number of values in [0, 1], from 8 × 8 on, without
            names of columns, to be square images; None says that they are none.
        title : str or None
            The heading.
        command : str or None
            What was typed to make the model, if that was not Python.
        """
        from harmonium.estimators import reporting  # matplotlib takes its time

        check_is_fitted(self)
        with self._precision():
            content = reporting.page(self, X, X_test, shape=shape, title=title, command=command)
        write_bytes(path, content.encode())

    def save(self, path: FilePath) -> None:
        """Write the model to one file; ``harmonium.load`` reads it.

        Parameters
        ----------
        path : path
            The file, usually with the ending ``.safetensors``.
        """
        check_is_fitted(self)
        files.save(path, self)

    @classmethod
    def from_parameters(
        cls,
        weights: Any,
        visible_bias: Any,
        hidden_bias: Any,
        *,
        visible: str = "bernoulli",
        hidden: str = "bernoulli",
        dtype: str = "float32",
    ) -> "RBM":
        """A fitted model with given parameters: E(v, h) = -vᵀWh - aᵀv - bᵀh.

        Parameters
        ----------
        weights : array of shape (n_features[, n_states], n_components)
            W: visible units along the first axis.
        visible_bias : array of shape (n_features[, n_states])
            a.
        hidden_bias : array of shape (n_components,)
            b.
        visible, hidden : str, default="bernoulli"
            The types of the units. Gaussian and rectified ones have precision 1; for others, see ``from_machine``.
        dtype : {"float32", "float64"}, default="float32"
            Precision.

        Returns
        -------
        RBM
        """
        allowed = {
            "visible": (OneOf(tuple(columns.TYPES)),),
            "hidden": cls._allowed["hidden"],
            "dtype": cls._allowed["dtype"],
        }
        check({"visible": visible, "hidden": hidden, "dtype": dtype}, allowed)
        with jax.enable_x64(dtype == "float64"):
            given = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
            w, a, b = (jnp.asarray(_numbers(name, values), dtype) for name, values in given.items())
            machine = build.rbm(columns.TYPES[visible](a), HIDDEN[hidden](b), w)
        return cls.from_machine(machine)

    @classmethod
    def from_machine(cls, machine: Machine) -> "RBM":
        """A fitted model from a machine of one visible and one hidden layer.

        Parameters
        ----------
        machine : Machine
            Such as ``harmonium.rbm`` makes.

        Returns
        -------
        RBM
        """
        if len(machine.layers) != 2 or machine.joins not in (((0, 1),), ((1, 0),)) or machine.n_visible != 1:
            raise ArgumentError("machine", f"layers {machine.names}", "one visible and one hidden layer, coupled once")
        names = {kind: name for name, kind in (*HIDDEN.items(), *columns.TYPES.items())}
        kinds = [names.get(type(unit), type(unit).__name__) for unit in machine.layers]
        dtype = machine.layers[0].bias.dtype.name
        made = cls(machine.layers[1].n, visible=kinds[0], hidden=kinds[1], dtype=dtype)
        made.n_features_in_ = machine.layers[0].n
        with made._precision():
            encoding = Plain() if not machine.layers[0].one_hot else Codes(machine.layers[0].shape[-1])
            made._settle(Encoded(machine, encoding, None), {}, 0)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: arrays as NumPy's, because JAX reads its own in the precision of whoever unpickles."""
        state: dict[str, Any] = super().__getstate__()
        return state | {name: jax.tree.map(_at_rest, state[name]) for name in TREES if name in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        with self._precision():
            self.__dict__.update({name: jax.tree.map(_at_work, state[name]) for name in TREES if name in state})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self._model.machine.layers[1].n)

    def _parameters(self) -> dict[str, Any]:
        p: dict[str, Any] = self.get_params(deep=False)
        check(p, self._allowed)
        if self.resume and self.checkpoint is None:
            raise ArgumentError("resume", "True without a checkpoint", "the folder of a checkpoint to go on from")
        return p

    def _require_as_begun(self, p: dict[str, Any]) -> None:
        """Raise ``ArgumentError`` if a parameter has changed that shaped what a run carries from step to step."""
        for name in SHAPING if self._state is None else (*SHAPING, *CARRYING):
            if p[name] != self._begun[name]:
                found = f"{p[name]!r}, where learning began with {self._begun[name]!r}"
                raise ArgumentError(name, found, "the same to go on with partial_fit; or fit, which begins anew")

    def _precision(self) -> Any:
        return jax.enable_x64(self.dtype == "float64")

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _layer(self, rows: Rows, weights: np.ndarray | None, n_rows: float) -> columns.Visible:
        return columns.layer(columns.choose(self.visible, rows), rows, rows.summary(weights), n_rows)

    def _begin(self, layer: columns.Visible, seed: int, n_rows: float) -> None:
        """What is true from the first step on."""
        self._random, self._n_rows = seed, n_rows
        self._begun = {name: getattr(self, name) for name in (*SHAPING, *CARRYING)}
        self._state = None
        if layer.constant:
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            shown = ", ".join(repr(names[i]) for i in layer.constant[:5]) + ", …" * (len(layer.constant) > 5)
            warnings.warn(
                f"{len(layer.constant)} of {self.n_features_in_} columns have one value only: {shown}. "
                "They are learned as if one more row, from a neutral unit, had been seen.",
                UserWarning,
                stacklevel=3,
            )

    def _pursue(
        self,
        run: Run[Machine],
        course: Course,
        batches: Batches,
        until: int,
        watch: Watch,
        layer: columns.Visible,
        keeper: Keeper,
        journal: Journal,
        *,
        brief: bool = False,
    ) -> None:
        """Follow a course to its end; the model is settled also where it diverges."""
        what = f"{type(self).__name__} {batches.rows.n_columns} {type(layer.unit).__name__} - {self.n_components}"
        try:
            with Display(what, until, shown=bool(self.verbose)) as display, journal:
                for reached in follow(run, course, batches, until, watch, brief=brief):
                    course = reached
                    keeper.keep(course)
                    journal.write(course)
                    display.show(course)
        except DivergenceError as error:
            course = course._replace(state=error.state)
            raise
        finally:
            keeper.end(course)
            self._state = course.state
            history = {name: [row[name] for row in course.history] for name in (course.history or ({},))[-1]}
            model = Encoded(course.result, layer.encoding, layer.mean)
            self._settle(model, history, int(course.state.step), course.stages)

    def _settle(
        self,
        model: Encoded,
        history: dict[str, list[int | float]],
        n_updates: int,
        stages: tuple[Machine, ...] = (),
    ) -> None:
        """Make a model the fitted one, and machines those it went through."""
        self._model, self._stages = model, stages
        self.__dict__.pop("_log_partition", None)
        if not hasattr(self, "_state"):
            self._random, self._n_rows, self._state = self._seed(), 0.0, None
            self._begun = {name: getattr(self, name) for name in SHAPING}
        self.machine_ = model.plain
        self.components_ = np.moveaxis(np.asarray(self.machine_.couplings[0].matrix()), -1, 0)
        self.intercept_visible_ = np.asarray(self.machine_.layers[0].bias)
        self.intercept_hidden_ = np.asarray(self.machine_.layers[1].bias)
        self.history_ = history
        self.n_updates_ = n_updates

    def _settled(self, rows: Rows) -> columns.Visible:
        """The visible layer as it was settled, if it can hold the rows."""
        unit = self._model.machine.layers[0]
        columns.require_fitting(unit, rows)
        mean = jnp.zeros_like(unit.bias) if self._model.mean is None else self._model.mean
        return columns.Visible(unit, self._model.encoding, mean, ())

    def _chance(self) -> Key[Array, ""]:
        """A new key at each call: where ``random_state`` is a seed, the same ones in the same order."""
        if not hasattr(self, "_draws"):
            self._draws = check_random_state(self.random_state)
        return sampling.key(int(self._draws.randint(2**31 - 1)))

    def _of_rows(self, function: Any, X: Any, *rest: Any) -> np.ndarray:
        check_is_fitted(self)
        with self._precision():
            return over_rows(function, self._model, self._rows(X), *rest)

    def _rows(self, X: Any) -> Rows:
        """Rows that the model can look at."""
        rows = read(X, dtype=self.dtype)
        validate_data(self, X, reset=False, skip_check_array=True)
        columns.require_fitting(self._model.machine.layers[0], rows)
        return rows

    def _inner_log_partition(self) -> Interval:
        if "_log_partition" not in self.__dict__:
            with self._precision():
                self._log_partition = self._model.log_partition(sampling.key(0))
        return self._log_partition


def _at_rest(leaf: Any) -> Any:
    real = isinstance(leaf, jax.Array) and not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(leaf) if real else leaf


def _at_work(leaf: Any) -> Any:
    return jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(name, f"what is no array of numbers ({error})", "real numbers") from error
