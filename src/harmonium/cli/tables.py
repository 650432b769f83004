"""Tables on their way in and out: read for a model, written to a file of the format that its name says."""

import io
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harmonium.errors import ArgumentError

DATA = "a table of numbers: .npy, .npz (FILE.npz:NAME for one of several arrays), .csv or .parquet"


def output(parser: ArgumentParser, what: str, endings: Sequence[str]) -> None:
    """The options of a verb that writes a table."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"{what}: a file that ends in {', '.join(endings)}; by default text"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    parser.set_defaults(endings=tuple(endings))


def require_output(args: Namespace) -> None:
    """Refuse a file that exists, or whose format is not known, before any work is done."""
    if args.output is None:
        return
    if Path(args.output).suffix.lower() not in args.endings:
        wanted = f"a file that ends in one of {', '.join(args.endings)}"
        raise ArgumentError("--output", f"{args.output!r}", wanted)
    require_new(args.output, args.force)


def require_new(path: str | Path, force: bool) -> None:
    """Refuse to overwrite."""
    if not force and Path(path).exists():
        raise ArgumentError("--output", f"{str(path)!r}, which exists", "another name, or --force to overwrite it")


@contextmanager
def named(table: str) -> Iterator[None]:
    """Errors about an argument X are about the table of this name."""
    try:
        yield
    except ArgumentError as error:
        if error.argument == "X":
            error.args = (f"{table}{str(error).removeprefix('X')}",)
        raise


def read_for(model: Any, table: str) -> Any:
    """The values of a table, if its columns are those of a fitted model."""
    from harmonium.data import read
    from harmonium.data.files import read_file

    values, names = read_file(table)
    wanted = getattr(model, "feature_names_in_", None)
    with named(table):
        if names is not None and wanted is not None and len(names) == len(wanted) and names != tuple(wanted):
            i = next(i for i, name in enumerate(names) if name != wanted[i])
            found = f"the name {names[i]!r} for column {i}"
            raise ArgumentError(table, found, f"{wanted[i]!r}: the columns, in the order, that the model learned from")
        read(values, n_columns=model.n_features_in_)
    return values


def names_of(model: Any) -> list[str] | None:
    """The names of the columns a model learned from, if they had any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def write(values: Any, names: Sequence[str] | None, args: Namespace) -> None:
    """Write an array to the file that was asked for, or as text to the standard output."""
    from harmonium.artifact import write_bytes

    if args.output is None:
        sys.stdout.write(_text(values, names))
        return
    ending, content = Path(args.output).suffix.lower(), io.BytesIO()
    if ending == ".csv":
        content.write(_text(values, names).encode())
    elif ending == ".parquet":
        _write_parquet(values, names, content)
    else:
        import numpy as np

        np.save(content, values) if ending == ".npy" else np.savez_compressed(content, rows=values)
    write_bytes(args.output, content.getvalue())
    print(f"wrote {args.output}: {' × '.join(f'{n:,}' for n in values.shape)}")


def _text(values: Any, names: Sequence[str] | None) -> str:
    """Comma-separated; whole numbers without a point, others with the digits that tell them apart."""
    import csv

    import numpy as np

    table = np.atleast_2d(values) if values.ndim == 2 else values[:, None]
    whole = bool((table == np.rint(table)).all())
    digits = "%d" if whole else f"%.{9 if table.dtype == np.float32 else 17}g"
    text = io.StringIO()
    if names is not None:
        csv.writer(text, lineterminator="\n").writerow(names)
    np.savetxt(text, table, digits, ",")
    return text.getvalue()


def _write_parquet(values: Any, names: Sequence[str] | None, file: io.BytesIO) -> None:
    table = values if values.ndim == 2 else values[:, None]
    columns = {str(names[j] if names else j): table[:, j] for j in range(table.shape[1])}
    try:
        import pyarrow as pa
        from pyarrow.parquet import write_table
    except ImportError:
        try:
            import polars as pl
        except ImportError as error:
            wanted = "pyarrow or polars to write it with: pip install 'harmonium[frames]'"
            raise ArgumentError("--output", "no library that writes Parquet", wanted) from error
        pl.DataFrame(columns).write_parquet(file)
    else:
        write_table(pa.table(columns), file)
