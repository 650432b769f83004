"""Bugs that a person could write where machines learn: file, what is there, what the bug puts in its place, the test.

``planted_bugs.py`` plants them.
"""

LIKELIHOOD, VALUES = "tests/learning/test_likelihood.py::", "tests/learning/test_values.py::"
LOOP, COURSE, CHECKPOINT = (f"tests/training/test_{name}.py::" for name in ("loop", "course", "checkpoint"))
FIT, OPTIMISERS = "tests/training/test_maximum_likelihood.py::", "tests/training/test_optimisers.py::"
BATCHES, PSEUDO = "tests/data/test_batches.py::", "tests/likelihood/test_pseudo.py::"
RESUMED = CHECKPOINT + "test_what_is_saved_comes_back_and_goes_on_bit_for_bit"

BUGS = {
    # What is climbed.
    "short batch mis-scaled": (
        "learning/likelihood.py",
        "share = jnp.sum(batch.weights) / batch.full",
        "share = jnp.ones((), batch.weights.dtype)",
        FIT + "test_exact_phases_end_at_the_fit[short batch]",
    ),
    "weights ignored in the data": (
        "learning/likelihood.py",
        "acting.statistics(configuration(machine, batch), batch.weights / batch.full)",
        "acting.statistics(configuration(machine, batch), (batch.weights > 0) / batch.full)",
        FIT + "test_exact_phases_end_at_the_fit[weights]",
    ),
    "data batch used as persistent chain": (
        "learning/contrastive.py",
        "chains = sweeps(key, machine, chains, self.n_gibbs, order=machine.order[::-1])",
        "chains = sweeps(key, machine, (*batch.visible, *chains[machine.n_visible :]), self.n_gibbs)",
        LIKELIHOOD + "test_persistent_chains_are_their_own_and_go_on[5]",
    ),
    "persistent chains restarted": (
        "learning/contrastive.py",
        "return machine.statistics(marginalised(machine, chains), share), chains",
        "return machine.statistics(marginalised(machine, chains), share), self.init(key, machine)",
        LIKELIHOOD + "test_persistent_chains_stay_in_the_mode_they_are_in",
    ),
    "one key for all sweeps of a step": (
        "learning/likelihood.py",
        "return gibbs.step(jax.random.fold_in(key, t), machine, state, order=order)[0]",
        "return gibbs.step(key, machine, state, order=order)[0]",
        LIKELIHOOD + "test_sampled_negative_phases_are_unbiased_at_home[rbm-PCD]",
    ),
    "one key for all steps": (
        "training/loop.py",
        "model, key = state.model, jax.random.fold_in(state.key, state.step)",
        "model, key = state.model, state.key",
        LOOP + "test_every_step_of_every_run_draws_anew",
    ),
    "centring term left out of the step": (
        "learning/likelihood.py",
        "return positive.leave(machine, self._leave(machine, update, state) if self.centred else update)",
        "return positive.leave(machine, update)",
        LIKELIHOOD + "test_the_centred_update_does_not_depend_on_what_is_called_zero",
    ),
    "centring term left out of the gradient": (
        "learning/likelihood.py",
        "        return transposed",
        "        return gradient",
        LIKELIHOOD + "test_the_centred_gradient_is_the_textbook_s",
    ),
    "penalties in full on a short batch": (
        "learning/likelihood.py",
        "lambda p, n, q: p - share * (n + q)",
        "lambda p, n, q: p - share * n - q",
        LIKELIHOOD + "test_penalties_are_subtracted_and_keep_their_share",
    ),
    "divergence from the target the wrong way round": (
        "learning/penalties.py",
        "jax.scipy.special.rel_entr(self.target, q) + jax.scipy.special.rel_entr(1 - self.target, 1 - q)",
        "jax.scipy.special.rel_entr(q, self.target) + jax.scipy.special.rel_entr(1 - q, 1 - self.target)",
        LIKELIHOOD + "test_the_sparsity_penalty_is_the_divergence_from_the_target",
    ),
    "smoothing subtracted": (
        "learning/penalties.py",
        "total = total - self.smoothing",
        "total = total + self.smoothing",
        LIKELIHOOD + "test_smoothing_draws_every_visible_unit_towards_a_neutral_one",
    ),
    "gradient of a precision taken for that of its logarithm": (
        "learning/positive.py",
        "lambda value, slope: value * slope",
        "lambda value, slope: slope",
        VALUES + "test_positive_parameters_step_in_their_logarithms",
    ),
    "pseudo-likelihood of a short batch over its own weight": (
        "learning/pseudo.py",
        "penalty) / batch.full",
        "penalty) / jnp.sum(batch.weights)",
        VALUES + "test_the_values_are_the_weighted_means_less_the_penalties[rbm]",
    ),
    "visible couplings left out of the pseudo-likelihood": (
        "likelihood/pseudo.py",
        "return received + within.forward(x.reshape(-1)).reshape(received.shape)",
        "return received",
        PSEUDO + "test_conditionals_of_the_exact_joint[torus]",
    ),
    "a unit's own value left in what it sends": (
        "likelihood/pseudo.py",
        "without = inputs[h] - jnp.tensordot(place.x, w, 1)",
        "without = inputs[h]",
        PSEUDO + "test_every_conditional_counts_once[Categorical-Binomial]",
    ),
    "what is given counted at one temperature for another": (
        "likelihood/annealed.py",
        "total = total + (after - before) * (alone.energy(x) - unit.energy(x))",
        "total = total + after * (alone.energy(x) - unit.energy(x))",
        "tests/likelihood/test_annealed.py::test_weights_of_a_graph_are_unbiased[table]",
    ),
    # How steps are made of it.
    "averaging started at the start": (
        "training/state.py",
        "weight = (emphasis + 1) / (step + 1 + emphasis)",
        "weight = (emphasis + 1) / (step + 2 + emphasis)",
        LOOP + "test_the_average_is_a_plain_sum[4.0]",
    ),
    "averaging of the models before the steps": (
        "training/loop.py",
        "average = states.averaged(average, model, state.step, run.emphasis)",
        "average = states.averaged(average, state.model, state.step, run.emphasis)",
        LOOP + "test_the_average_is_a_plain_sum[1.0]",
    ),
    "schedule ignored": (
        "training/optimisers.py",
        "rate = self.schedule.at(step)",
        "rate = self.schedule.rate",
        OPTIMISERS + "test_every_name_is_that_of_optax[sgd]",
    ),
    "Nesterov's momentum without Nesterov": (
        "training/optimisers.py",
        "optax.sgd(1.0, momentum, nesterov=True)",
        "optax.sgd(1.0, momentum)",
        OPTIMISERS + "test_every_name_is_that_of_optax[nesterov]",
    ),
    "rate inside the optimiser and outside": (
        "training/optimisers.py",
        "down = jax.tree.map(lambda g: -g, gradient)",
        "down = jax.tree.map(lambda g: -self.schedule.rate * g, gradient)",
        OPTIMISERS + "test_every_name_is_that_of_optax[momentum]",
    ),
    "searches that leave an optimum": (
        "training/loop.py",
        "lower = loss(",
        "lower = False & loss(",
        OPTIMISERS + "test_lbfgs_fits_means_and_variances",
    ),
    "NaN turned into zero": (
        "training/loop.py",
        "gradient = run.objective.enter(model, gradient, carried)",
        "gradient = jax.tree.map(jnp.nan_to_num, run.objective.enter(model, gradient, carried))",
        LOOP + "test_what_is_not_finite_is_found_at_its_step_and_named[5]",
    ),
    "state at the start of a chunk kept for the last good one": (
        "training/loop.py",
        '"; ".join(found), states.at_home(again(max(good, 0))[0]))',
        '"; ".join(found), state)',
        LOOP + "test_what_grows_out_of_bounds_is_stopped_at_the_step_that_left_them[100]",
    ),
    "last step of a chunk not looked at": (
        "training/loop.py",
        "return state, i, sound & jnp.all(jnp.stack(finite)) & bounded(state.model, run.batch(chunk, i))",
        "return state, i, sound",
        LOOP + "test_what_grows_out_of_bounds_is_stopped_at_the_step_that_left_them[20]",
    ),
    "a chunk's length compiled in": (
        "training/loop.py",
        "chunk = Chunk(*map(jnp.asarray, arrays))",
        "chunk = Chunk(*(jnp.asarray(a[: int(arrays[3]) + 1] if i < 2 else a) for i, a in enumerate(arrays)))",
        LOOP + "test_another_run_of_the_same_shapes_compiles_nothing",
    ),
    # Which rows are learned from.
    "same order in every epoch": (
        "data/batches.py",
        "order = permutation(self.seed, epoch, self.n_rows)",
        "order = permutation(self.seed, 0, self.n_rows)",
        BATCHES + "test_an_order_does_not_depend_on_what_was_asked_before",
    ),
    "last short batch dropped": (
        "data/batches.py",
        "self.steps_per_epoch = -(-self.n_rows // self.batch_size)",
        "self.steps_per_epoch = self.n_rows // self.batch_size",
        BATCHES + "test_an_epoch_holds_each_row_once",
    ),
    "padding counted as rows": (
        "data/batches.py",
        "weights = np.zeros((n_steps, self.batch_size), self.rows.dtype)",
        "weights = np.ones((n_steps, self.batch_size), self.rows.dtype)",
        BATCHES + "test_an_epoch_holds_each_row_once",
    ),
    "weights of the rows in the order of the table": (
        "data/batches.py",
        "1 if self._weights is None else self._weights[order]",
        "1 if self._weights is None else self._weights[: len(order)]",
        BATCHES + "test_an_epoch_holds_each_row_once",
    ),
    "weights of all rows sum to one": (
        "data/batches.py",
        "(shares / mean).astype(rows.dtype)",
        "(shares / shares.sum()).astype(rows.dtype)",
        BATCHES + "test_full_batches_weigh_their_number_of_rows[1.0]",
    ),
    # What is kept.
    "optimiser state not restored": (
        "training/checkpoint.py",
        "return Course(state, ",
        "return Course(eqx.tree_at(lambda s: s.optimiser, state, start.state.optimiser), ",
        RESUMED,
    ),
    "key not restored": (
        "training/checkpoint.py",
        "return Course(state, ",
        "return Course(eqx.tree_at(lambda s: s.key, state, start.state.key), ",
        RESUMED,
    ),
    "chains not restored": (
        "training/checkpoint.py",
        "return Course(state, ",
        "return Course(eqx.tree_at(lambda s: s.objective, state, start.state.objective), ",
        RESUMED,
    ),
    "average begun anew": (
        "training/checkpoint.py",
        "return Course(state, ",
        "return Course(eqx.tree_at(lambda s: s.average, state, state.model), ",
        RESUMED,
    ),
    "order of the rows begun anew": (
        "training/loop.py",
        "yield _chunk(batches, first, end - first, size)",
        "yield _chunk(batches, first - int(state.step), end - first, size)",
        RESUMED,
    ),
    "latest model restored as the best": (
        "training/checkpoint.py",
        'best = saved["best"] and Best(model, ',
        'best = saved["best"] and Best(state.result, ',
        RESUMED,
    ),
    "digest not checked": (
        "artifact.py",
        "if digest != _digest(arrays, entry):",
        "if not digest:",
        CHECKPOINT + "test_a_bit_that_fell_over_is_noticed[-1]",
    ),
    "best of the models, score of the averages": (
        "training/course.py",
        "return course._replace(best=Best(course.state.result, score, step))",
        "return course._replace(best=Best(course.state.model, score, step))",
        COURSE + "test_the_best_is_kept_as_it_was_when_it_was_looked_at",
    ),
    "NaN taken for the best": (
        "training/course.py",
        "if score > (-math.inf if best is None else best.score):",
        "if not score <= (-math.inf if best is None else best.score):",
        COURSE + "test_patience_counts_looks_without_a_better_model[scores4-3-6]",
    ),
}
