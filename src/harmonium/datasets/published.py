"""The public data sets and the published RBM: read from a copy, or from the cache once they have been downloaded."""

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, UInt8

from harmonium.datasets import places
from harmonium.datasets.catalogue import RBM_ARRAYS, RBM_FILE, SETS, names
from harmonium.datasets.download import fetch
from harmonium.datasets.places import DatasetError
from harmonium.errors import ArgumentError


class Splits(NamedTuple):
    """The rows of a data set, 0 or 1 in uint8: a byte each as in bool, but they count and average as numbers.

    A product of rows with rows overflows in uint8: make one side a float first.
    """

    train: UInt8[np.ndarray, "rows columns"]
    valid: UInt8[np.ndarray, "rows columns"]
    test: UInt8[np.ndarray, "rows columns"]


class PublishedRBM(NamedTuple):
    """The parameters of E(v, h) = -v·visible_bias - h·hidden_bias - vᵀ weights h."""

    weights: Float32[np.ndarray, "visible hidden"]
    visible_bias: Float32[np.ndarray, " visible"]
    hidden_bias: Float32[np.ndarray, " hidden"]


def load(name: str) -> Splits:
    """A public data set in its published splits; ``names()`` says which there are.

    If ``HARMONIUM_DATA`` names a folder of copies, it is read from there. If not, the original is downloaded once, into
    the folder ``HARMONIUM_CACHE`` (by default the user's cache). Other rows than the published ones are an error.
    """
    if name not in names():
        raise ArgumentError("name", repr(name), f"one of {', '.join(names())}")
    known = SETS[name]
    file, remedy = _located(known.file.format(name=name), known.url)
    if places.copy() is None and not file.exists():
        _download(name, file)
    arrays = _read(file, remedy)
    try:
        if name == "ocr_letters":  # the copy has all letters in the order of the words, and a mask of those to train on
            train = arrays["X_packed"][np.unpackbits(arrays["nade_train_rows"]).astype(bool)]
            splits = [train, arrays["nade_valid"], arrays["nade_test"]]
        else:
            splits = [arrays[split] for split in Splits._fields]
    except (LookupError, TypeError) as error:
        raise DatasetError(f"{file}: found other arrays than wanted ({error!r}). {remedy}.") from error
    found = []
    for split, packed in zip(Splits._fields, splits, strict=True):
        rows, digest = getattr(known, split)
        content = np.frombuffer(_verified(packed, digest, f"{file}: {split}", remedy), np.uint8)
        found.append(np.unpackbits(content.reshape(rows, -1), axis=1, count=known.columns))
    return Splits(*found)


def published_rbm() -> PublishedRBM:
    """The RBM "CD25(500)" of Salakhutdinov & Murray (ICML 2008), 784 × 500, trained on ``binarized_mnist``.

    Published with log Z = 451.28, and a mean log-likelihood of -86.34 nats on the test rows. Only a folder of copies
    has it: the original is an opaque MATLAB object.
    """
    file, remedy = _located(RBM_FILE)
    arrays = _read(file, remedy)
    found = []
    for name, (shape, digest) in RBM_ARRAYS.items():
        content = _verified(arrays.get(name, np.zeros(0)), digest, f"{file}: {name}", remedy)
        found.append(np.frombuffer(content, np.float32).reshape(shape).copy())
    return PublishedRBM(*found)


def _located(file: str, url: str = "") -> tuple[Path, str]:
    """Where a file of data should be, and what to do if it is no good there."""
    if (folder := places.copy()) is not None:
        return folder / file, "Copy it there" + (", or unset HARMONIUM_DATA: then it is downloaded" if url else "")
    if not url:
        raise DatasetError(f"HARMONIUM_DATA: found nothing; wanted a folder with {file}, which cannot be downloaded.")
    return places.cache() / file, "Delete it and load again"


def _download(name: str, file: Path) -> None:
    """Download the splits and put them into a file, all or nothing: it is written aside, then renamed."""
    known = SETS[name]
    copy = known.file.format(name=name)
    remedy = f"Load it again with a network that reaches it, or set HARMONIUM_DATA to a folder with {copy}"
    packed = {}
    for split in Splits._fields:
        rows, digest = getattr(known, split)
        url = known.url.format(name=name, split=split)
        signs = np.frombuffer(fetch(url, remedy), np.uint8)
        bits = signs[(signs == ord("0")) | (signs == ord("1"))] & 1  # between them are commas, blanks and newlines
        if bits.size != rows * known.columns:
            raise DatasetError(f"{url}: found {bits.size} zeros and ones; wanted {rows} × {known.columns}. {remedy}.")
        packed[split] = np.packbits(bits.reshape(rows, -1), axis=1)
        _verified(packed[split], digest, url, remedy)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent, prefix=".harmonium-") as aside:
            written = Path(aside) / file.name
            np.savez_compressed(written, train=packed["train"], valid=packed["valid"], test=packed["test"])
            written.replace(file)
    except OSError as error:
        wanted = "wanted to write it. Set HARMONIUM_CACHE to a folder that may be written and has room"
        raise DatasetError(f"{file}: found {error!r}; {wanted}.") from error


def _read(file: Path, remedy: str) -> dict[str, np.ndarray]:
    """The arrays in a file."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            return dict(arrays)
    except Exception as error:  # a damaged file can raise anything
        raise DatasetError(f"{file}: found {error!r}; wanted arrays in .npz. {remedy}.") from error


def _verified(array: np.ndarray, digest: str, where: str, remedy: str) -> bytes:
    """The bytes of an array, if they are those wanted."""
    content = array.tobytes()
    if (found := sha256(content).hexdigest()) != digest:
        raise DatasetError(f"{where}: found content with SHA-256 {found}; wanted {digest}. {remedy}.")
    return content
