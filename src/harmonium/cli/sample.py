"""``harmonium sample``: new rows from a model."""

from argparse import ArgumentParser, Namespace

from harmonium.cli import options, tables

SUMMARY = "new rows from a model"
DESCRIPTION = "New rows, from independent Markov chains; without -o as text on the standard output."
EXAMPLE = "harmonium sample demo/model.safetensors -n 100 -o samples.npy"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("model", metavar="MODEL", help="a model that harmonium saved")
    number = options.counter(1)
    parser.add_argument("-n", "--rows", metavar="N", type=number, default=100, help="rows (default: 100)")
    text = "Gibbs sweeps of each chain (default: 1000)"
    parser.add_argument("--steps", metavar="N", type=options.counter(2), default=1000, help=text)
    text = "where chance begins: the same seed, the same rows (default: 0)"
    parser.add_argument("--seed", metavar="N", type=options.seed, default=options.SEED, help=text)
    tables.output(parser, "the rows", (".npy", ".csv", ".npz", ".parquet"))


def run(args: Namespace) -> None:
    """Do it."""
    tables.require_output(args)
    from harmonium.estimators import load

    model = load(args.model).set_params(random_state=args.seed)
    tables.write(model.sample(args.rows, n_steps=args.steps), tables.names_of(model), args)
