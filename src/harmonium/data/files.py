"""Tables in files: ``.npy``, ``.npz`` (one array, one of several, or a sparse matrix), ``.csv`` and ``.parquet``."""

import csv
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import load_npz

from harmonium.errors import ArgumentError

ENDINGS = (".npy", ".npz", ".csv", ".parquet")
SEPARATORS = ",;\t"


class Table(NamedTuple):
    """What a file holds, as ``data.read`` takes it, and the names of its columns if it has any."""

    values: Any
    names: tuple[str, ...] | None = None


def parts(named: str) -> tuple[Path, str | None]:
    """A file and the array in it: ``rows.npz:train`` names the array ``train`` of ``rows.npz``."""
    found = re.fullmatch(r"(.+\.npz):([^:]+)", named)
    return (Path(found[1]), found[2]) if found else (Path(named), None)


def read_file(named: str) -> Table:
    """The table in a file, with its values as they are: ``data.read`` checks them.

    An ``.npy`` file stays on disk. In a ``.csv`` all cells are numbers; the first line is a header if one of its cells
    is none, and the separator the one of comma, semicolon and tab that it has most of.
    """
    path, member = parts(named)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(named, f"the ending {path.suffix!r}", f"a file that ends in one of {', '.join(ENDINGS)}")
    if not path.is_file():
        raise ArgumentError(named, "a folder" if path.is_dir() else "no file of this name", "a table to read")
    if ending == ".npy":
        with _readable(named, "an array of numbers that NumPy saved"):
            return Table(np.load(path, mmap_mode="r", allow_pickle=False))
    if ending == ".npz":
        return Table(_from_archive(named, path, member))
    return _from_text(named, path) if ending == ".csv" else _from_parquet(named, path)


@contextmanager
def _readable(named: str, wanted: str) -> Iterator[None]:
    """What a damaged file makes a library raise, as one error that names the file."""
    try:
        yield
    except (ArgumentError, MemoryError):
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise ArgumentError(named, f"what cannot be read ({error})", wanted) from error
    except Exception as error:
        raise ArgumentError(named, f"what cannot be read ({error})", wanted) from error


def _from_archive(named: str, path: Path, member: str | None) -> Any:
    with _readable(named, "arrays that NumPy saved, or a sparse matrix that SciPy saved"):
        if not zipfile.is_zipfile(path):
            raise ArgumentError(named, "no archive", "arrays that NumPy saved, or a sparse matrix that SciPy saved")
        with np.load(path, allow_pickle=False) as archive:
            names = list(archive.files)
            if member is None and {"format", "shape", "data"} <= set(names):
                return load_npz(path)
            if member is None and len(names) == 1:
                member = names[0]
            if member not in names:
                found = "no array" if not names else f"the arrays {', '.join(names)}"
                wanted = f"one of them by name, such as {path}:{names[0]}" if names else "an array"
                raise ArgumentError(named, found, wanted)
            return archive[member]


def _from_text(named: str, path: Path) -> Table:
    with _readable(named, "text in UTF-8"), path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
    if not first.strip():
        raise ArgumentError(named, "an empty first line", "rows of numbers, with or without a header")
    separator = max(SEPARATORS, key=first.count)
    head = next(csv.reader([first], delimiter=separator))
    names = None if all(map(_is_number, head)) else tuple(cell.strip() for cell in head)
    if names is not None:
        _require_names(named, names)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "loadtxt: input contained no data", UserWarning)  # an error, below
            values = np.loadtxt(
                file, delimiter=separator, quotechar='"', comments=None, skiprows=int(names is not None), ndmin=2
            )
    except (ValueError, UnicodeDecodeError) as error:
        raise _fault(named, path, separator, head, names) or ArgumentError(
            named, f"what cannot be read ({error})", "rows of numbers"
        ) from error
    if not values.size:
        raise ArgumentError(named, "a header, and no rows", "at least one row of numbers")
    if values.shape[1] != len(head):
        raise ArgumentError(named, f"{len(head)} names over {values.shape[1]} columns", "a name for each column")
    return Table(values, names)


def _require_names(named: str, names: tuple[str, ...]) -> None:
    for i, name in enumerate(names):
        if not name:
            wanted = "a name for each; if it counts the rows, leave it out (index=False in pandas)"
            raise ArgumentError(named, f"no name in line 1, column {i}", wanted)
        if name in names[:i]:
            raise ArgumentError(named, f"the name {name!r} twice in line 1", "a name of its own for each column")


def _fault(
    named: str, path: Path, separator: str, head: list[str], names: tuple[str, ...] | None
) -> ArgumentError | None:
    """The first thing wrong with the rows of a text file."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        lines = csv.reader(file, delimiter=separator)
        row = -1 if names is not None else 0
        for cells in lines:
            if row >= 0 and cells:
                where = f"row {row} (line {lines.line_num})"
                for j, cell in enumerate(cells[: len(head)]):
                    if not _is_number(cell):
                        found = repr(cell) if cell.strip() else "an empty cell"
                        column = f"column {j if names is None else repr(names[j])}"
                        return ArgumentError(named, f"{found} at {where}, {column}", "a number")
                if len(cells) != len(head):
                    return ArgumentError(named, f"{len(cells)} cells in {where}", f"{len(head)}, as in line 1")
            row += row < 0 or bool(cells)
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000, nobody else does


def _from_parquet(named: str, path: Path) -> Table:
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        try:
            from polars import read_parquet as read_table
        except ImportError as error:
            wanted = "pyarrow or polars to read it with: pip install 'harmonium[frames]'"
            raise ArgumentError(named, "no library that reads Parquet", wanted) from error
    with _readable(named, "a Parquet file"):
        frame = read_table(path)
        return Table(frame, tuple(map(str, getattr(frame, "column_names", None) or frame.columns)))
