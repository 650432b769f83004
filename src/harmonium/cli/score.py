"""``harmonium score``: how likely are these rows."""

import json
from argparse import ArgumentParser, Namespace
from math import isfinite
from typing import Any

from harmonium.cli import tables

SUMMARY = "how likely the rows of a table are"
DESCRIPTION = "The mean log-likelihood of the rows of a table, in nats; with -o that of each row."
EXAMPLE = "harmonium score demo/model.safetensors demo/digits.npz:test -o scores.csv"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("model", metavar="MODEL", help="a model that harmonium saved")
    parser.add_argument("data", metavar="DATA", help=tables.DATA)
    tables.output(parser, "the log-likelihood of each row", (".csv", ".npy", ".npz", ".parquet"))
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: Namespace) -> None:
    """Do it."""
    tables.require_output(args)
    from harmonium.estimators import account, load

    model = load(args.model)
    values = tables.read_for(model, args.data)
    with tables.named(args.data):
        found = account(model, values)
    tell(args, model, found)
    if args.output is not None:
        tables.write(model.score_samples(values), ["log_likelihood"], args)


def tell(args: Namespace, model: Any, found: Any) -> None:
    """Say how likely the rows are, for a person or as JSON."""
    z, said = found.log_partition, found.log_likelihood
    if args.json:
        told = {
            "model": args.model,
            "data": args.data,
            "rows": found.n_rows,
            "columns": int(model.n_features_in_),
            "log_likelihood": said.written(),
            "standard_error_of_rows": found.error,
            "log_partition": z.written(),
            "independent_columns": found.independent,
        }
        print(json.dumps(plain(told), indent=1))
        return
    print(f"{args.data}: {found.n_rows:,} rows × {model.n_features_in_:,} columns")
    print(f"log-likelihood       {said.estimate:.4f} nats a row")
    if isfinite(found.error):
        print(f"                     ± {found.error:.2g}, because other rows like these would have others")
    for line in about(z):
        print(f"                     {line}")
    if found.independent is not None:
        print(f"independent columns  {found.independent:.4f}, with the means of the rows that were learned from")


def about(z: Any) -> list[str]:
    """What is known of log Z, in lines."""
    if z.method == "exact":
        return [f"with log Z = {z.estimate:.4f} exactly, by summing over all configurations"]
    ends = f"from {z.lower:.3f} to {z.upper:.3f}"
    lines = [f"with log Z = {z.estimate:.3f} ± {z.standard_error:.2g} ({ends}), by annealed importance sampling"]
    return [*lines, f"verdict: {z.verdict}" + (f": {z.reason}" if z.reason else "")]


def plain(value: Any) -> Any:
    """The same without NaN and infinity, which JSON has not."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
