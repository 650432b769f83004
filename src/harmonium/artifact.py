"""One file for a model: named arrays and a description of what they are, written durably and read with checks.

It is a safetensors file whose metadata has one entry, ``harmonium``: JSON with the version of the format, the
description, and a SHA-256 digest over both and over the name, type, shape and bytes of every array. Nothing is pickled.
Reading runs no code from the file: a description can only name unit and coupling types that are registered here.
"""

import errno
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import safetensors.numpy
from jaxtyping import Array, ArrayLike

from harmonium.couplings import Coupling, Dense, Edges, Within
from harmonium.errors import ArgumentError
from harmonium.machine import Machine
from harmonium.units import UNITS, Unit

FORMAT = 1
COUPLINGS: tuple[type[Coupling], ...] = (Dense, Within, Edges)
# The types that arrays can have, by their safetensors names.
DTYPES = {f"{kind.upper()}{8 * size}": np.dtype(f"<{kind}{size}") for kind in "fiu" for size in (2, 4, 8)}
DTYPES |= {"BF16": np.dtype(jnp.bfloat16), "I8": np.dtype("i1"), "U8": np.dtype("u1"), "BOOL": np.dtype(bool)}
STALE = 3600.0  # seconds after which a temporary file must be one that a killed writer left

FilePath = str | os.PathLike[str]
Arrays = dict[str, np.ndarray]
Description = dict[str, Any]


class ArtifactError(ValueError):
    """A file that is no intact model of ours, or a description that makes no machine."""


def write(path: FilePath, arrays: Mapping[str, ArrayLike], description: Mapping[str, Any]) -> None:
    """Put arrays and a description into one file, as ``write_bytes`` does.

    The description is what JSON can hold; its tuples come back as lists.
    """
    write_bytes(path, _encode(arrays, description))


def write_bytes(path: FilePath, content: bytes) -> None:
    """Put bytes into a file, all or nothing: after an error or a crash the old file is there.

    A temporary file beside it is written, synced to the disk and renamed; what a killed writer leaves of one is removed
    by a write an hour later. A symbolic link is followed, and the mode of an existing file kept.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".harmonium-{os.getpid()}-{time.time_ns()}.tmp")
    try:
        if target.exists() and not target.is_file():
            raise IsADirectoryError(errno.EISDIR, "Not a file")
        with suppress(OSError):
            for old in target.parent.glob(".harmonium-*.tmp"):
                if time.time() - old.stat().st_mtime > STALE:
                    old.unlink()
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        wanted = "wanted the name of a file in a directory that exists, may be written and has room"
        raise OSError(error.errno, f"{error.strerror}; {wanted}", str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    with suppress(OSError):  # not every system can sync a directory; the renaming is atomic all the same
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def read(path: FilePath) -> tuple[Arrays, Description]:
    """The arrays and the description in a file: bit for bit what was written, or an ``ArtifactError``."""
    content = Path(path).read_bytes()
    with _located(path):
        parts = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
        metadata = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")]).get("__metadata__") or {}
        if "harmonium" not in metadata:
            raise ArtifactError("found a safetensors file of another program; wanted one that Harmonium wrote.")
        entry = json.loads(metadata["harmonium"])
        if (version := entry["format"]) > FORMAT:  # first: in a newer format everything below may differ
            raise ArtifactError(
                f"made by a newer Harmonium (format {version}); this one reads up to {FORMAT}: upgrade."
            )
        digest = entry.pop("sha256")
        arrays = {name: np.frombuffer(p["data"], DTYPES[p["dtype"]]).reshape(p["shape"]) for name, p in parts}
        if digest != _digest(arrays, entry):
            raise ValueError("the content does not match its digest")
        return arrays, entry["description"]


def describe(machine: Machine) -> tuple[Arrays, Description]:
    """A machine as data: its arrays by name (``layers.visible.bias``), and a description that says what they are."""
    arrays: Arrays = {}
    names, layers, couplings = machine.names, [], []
    for name, unit in zip(names, machine.layers, strict=True):
        layers.append({"name": name, **_parts(unit, UNITS, f"layers.{name}", arrays)})
    for i, (coupling, (a, b)) in enumerate(zip(machine.couplings, machine.joins, strict=True)):
        couplings.append({"joins": [names[a], names[b]], **_parts(coupling, COUPLINGS, f"couplings.{i}", arrays)})
    return arrays, {"layers": layers, "couplings": couplings, "visible": list(names[: machine.n_visible])}


def restore(arrays: Arrays, description: Description) -> Machine:
    """The machine that ``describe`` took apart, put together by the constructors and so with all their checks."""
    with _located("the description of the machine"):
        layers = {entry["name"]: _build(entry, UNITS, arrays) for entry in description["layers"]}
        couplings = {
            (a, b): _build(entry, COUPLINGS, arrays, n=layers[a].n)
            for entry in description["couplings"]
            for a, b in [entry["joins"]]
        }
        return Machine(layers, couplings, description["visible"])


def save_machine(path: FilePath, machine: Machine) -> None:
    """Write a machine to a file."""
    write(path, *describe(machine))


def load_machine(path: FilePath) -> Machine:
    """The machine in a file."""
    data = read(path)
    with _located(path):
        return restore(*data)


def _encode(arrays: Mapping[str, ArrayLike], description: Mapping[str, Any]) -> bytes:
    """The file: every array with the same bits, but contiguous and little-endian."""
    plain: Arrays = {}
    for name, value in arrays.items():
        array = np.asarray(value)
        dtype = array.dtype.newbyteorder("<")
        if dtype not in DTYPES.values() or name == "__metadata__":
            wanted = f"another name, or one of {', '.join(DTYPES)}"
            raise ArgumentError("arrays", f"{name!r} of type {array.dtype}", wanted)
        plain[name] = np.asarray(array, dtype, order="C")
    try:
        entry = {"description": json.loads(_canonical(dict(description))), "format": FORMAT}
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError("description", str(error), "what JSON can hold, with finite numbers") from error
    # All in one entry: safetensors puts several in an order that differs from call to call.
    return safetensors.numpy.save(plain, {"harmonium": _canonical({**entry, "sha256": _digest(plain, entry)})})


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=np.generic.item)


def _digest(arrays: Arrays, entry: Description) -> str:
    digest = sha256(_canonical([entry, {k: [a.dtype.name, a.shape] for k, a in arrays.items()}]).encode())
    for name in sorted(arrays):
        digest.update(arrays[name].reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _parts(part: Unit | Coupling, types: Sequence[type], prefix: str, arrays: Arrays) -> Description:
    """The fields of a unit or coupling that its constructor takes (others follow from them); adds to ``arrays``."""
    if type(part) not in types:
        raise ArgumentError("machine", f"the type {type(part).__name__}", f"one of {[t.__name__ for t in types]}")
    own = {f.name: getattr(part, f.name) for f in fields(part) if f.name in signature(type(part)).parameters}
    for name, value in own.items():
        if isinstance(value, Array | np.ndarray):
            arrays[f"{prefix}.{name}"] = np.asarray(value)
            own[name] = {"array": f"{prefix}.{name}"}
    return {"type": type(part).__name__, "fields": own}


def _build(entry: Description, types: Sequence[type], arrays: Arrays, **others: int) -> Any:
    """A unit or coupling from its parts, and from those of ``others`` that its constructor takes."""
    with _located(entry.get("name", entry.get("joins"))):
        known = {t.__name__: t for t in types}
        made = known.get(entry["type"])
        if made is None:
            raise ArtifactError(f"found the type {entry['type']!r}; wanted one of {', '.join(known)}.")
        own = {name: _value(value, arrays) for name, value in entry["fields"].items()}
        return made(**own, **{name: others[name] for name in others if name in signature(made).parameters})


def _value(value: Any, arrays: Arrays) -> Any:
    """The value of a field: an array in JAX, with the same numbers, or a static value."""
    if not isinstance(value, dict):
        return tuple(_value(item, arrays) for item in value) if isinstance(value, list) else value
    array = arrays[value["array"]]
    made = jnp.array(array)
    if made.dtype != array.dtype and (jnp.issubdtype(made.dtype, jnp.inexact) or not np.array_equal(made, array)):
        enable = 'jax.config.update("jax_enable_x64", True)'
        raise ArtifactError(f"found {array.dtype}, wanted no rounding to {made.dtype}: call {enable} first.")
    return made


@contextmanager
def _located(where: object) -> Iterator[None]:
    """Every error becomes an ``ArtifactError`` that says where: a file can hold anything, so anything can be raised."""
    try:
        yield
    except ArtifactError as error:
        raise ArtifactError(f"{where}: {error}") from error.__cause__
    except Exception as error:
        raise ArtifactError(f"{where}: found {error!r}; wanted an intact model: copy or save it again.") from error
