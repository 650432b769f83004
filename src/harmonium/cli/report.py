"""``harmonium report``: a page about a model."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from harmonium.cli import tables
from harmonium.errors import ArgumentError

SUMMARY = "a page about a model: how likely it finds rows, what it learned, what is wrong"
DESCRIPTION = (
    "Write one HTML file about a model, to be opened in a browser; it needs no network.\n"
    "DATA is the table that the model learned from; with it, likelihoods and moments are compared."
)
EXAMPLE = "harmonium report demo/model.safetensors demo/digits.npz:train --test demo/digits.npz:test -o report.html"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("model", metavar="MODEL", help="a model that harmonium saved")
    parser.add_argument("data", metavar="DATA", nargs="?", help=f"{tables.DATA}: what the model learned from")
    parser.add_argument("--test", metavar="DATA", help="rows that the model has not seen")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help="(default: report.html)")
    text = "the rows are images of this shape, such as 28x28; or none (default: square if that fits)"
    parser.add_argument("--shape", metavar="HxW", type=shape, default="auto", help=text)
    parser.add_argument("--title", metavar="WORDS", help="the heading")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(args: Namespace) -> None:
    """Do it."""
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise ArgumentError("--output", f"{args.output!r}", "a file that ends in .html")
    tables.require_new(args.output, args.force)
    from harmonium.estimators import load

    model = load(args.model)
    X, X_test = (None if table is None else tables.read_for(model, table) for table in (args.data, args.test))
    title = args.title or f"{Path(args.model).stem}: what the model learned"
    command = None if args.data is None else fitting(model, args.data, args.model)
    with tables.named(args.data or "X"):
        model.report(args.output, X, X_test, shape=args.shape, title=title, command=command)
    print(f"wrote {args.output}\nnext: open it in a browser")


def shape(word: str) -> Any:
    """Height and width; or a word that stands for none."""
    if word in ("auto", "none"):
        return None if word == "none" else word
    sides = word.lower().split("x")
    if len(sides) == 2 and all(side.isdecimal() and int(side) for side in sides):
        return int(sides[0]), int(sides[1])
    raise ArgumentTypeError(f"found {word!r}; wanted HEIGHTxWIDTH, such as 28x28, or none")


def fitting(model: Any, data: str, output: str) -> str | None:
    """The command that fits such a model, where its parameters are words."""
    from harmonium.cli import options

    defaults = options.defaults(type(model))
    words = ["harmonium", "fit", data, "-o", output]
    for name, default in defaults.items():
        value = getattr(model, name)
        if isinstance(default, bool):
            words += [] if value == default else [options.option(name).replace("--", "--" if value else "--no-", 1)]
        elif not isinstance(value, str | int | float | None):
            return None
        elif value != default:
            words += [options.option(name), str(value)]
    return " ".join(words)
