"""``harmonium evaluate``: how likely are these rows, and how sure is that."""

from argparse import ArgumentParser, Namespace

from harmonium.cli import options, score, tables

SUMMARY = "how likely the rows of a table are, and whether to believe it"
DESCRIPTION = (
    "The mean log-likelihood of the rows of a table as an interval, in nats, with a verdict. The partition function is "
    "found anew, by chains that start from these rows, too."
)
EXAMPLE = "harmonium evaluate demo/model.safetensors demo/digits.npz:test"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    from harmonium.likelihood.partition import BUDGET

    parser.add_argument("model", metavar="MODEL", help="a model that harmonium saved")
    parser.add_argument("data", metavar="DATA", help=tables.DATA)
    parser.add_argument("--width", type=_width, default=0.5, metavar="X", help="nats that are narrow enough (0.5)")
    words = f"sweeps of one chain that it may take ({BUDGET:,})"
    parser.add_argument("--budget", type=options.counter(1000), default=BUDGET, metavar="N", help=words)
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: Namespace) -> None:
    """Do it."""
    from harmonium.estimators import load

    model = load(args.model)
    values = tables.read_for(model, args.data)
    with tables.named(args.data):
        found = model.evaluate(values, width=args.width, budget=args.budget)
    score.tell(args, model, found)


def _width(word: str) -> float:
    from argparse import ArgumentTypeError
    from math import isfinite

    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not (isfinite(value) and value >= 0):
        raise ArgumentTypeError(f"found {word!r}; wanted a number of nats, at least 0")
    return value
