"""``harmonium transform``: features of rows."""

from argparse import ArgumentParser, Namespace

from harmonium.cli import tables

SUMMARY = "features of the rows of a table"
DESCRIPTION = "The means of the hidden units given each row; without -o as text on the standard output."
EXAMPLE = "harmonium transform demo/model.safetensors demo/digits.npz:test -o features.npy"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("model", metavar="MODEL", help="a model that harmonium saved")
    parser.add_argument("data", metavar="DATA", help=tables.DATA)
    tables.output(parser, "the features", (".npy", ".csv", ".npz", ".parquet"))


def run(args: Namespace) -> None:
    """Do it."""
    tables.require_output(args)
    from harmonium.estimators import load

    model = load(args.model)
    values = tables.read_for(model, args.data)
    with tables.named(args.data):
        features = model.transform(values)
    tables.write(features, [str(name) for name in model.get_feature_names_out()], args)
