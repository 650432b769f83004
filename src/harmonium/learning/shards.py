"""Sums over a batch and over chains, on several devices: the same bits on 1, 2, 4 and 8.

Rows are cut into ``SHARDS`` parts, whatever the number of devices; each part has a key and chains of its own, and goes
through code of the same shapes. Sums over parts are those of one binary tree: a device adds up its own parts, a branch
of it, and all devices add up the branches. Parameters, and all that follows from the sums, are the same on each.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Key, PyTree

from harmonium.batchwise import alone
from harmonium.errors import ArgumentError
from harmonium.learning.objective import Batch
from harmonium.machine import Machine

SHARDS = 8
AXIS = "shards"
COUNTS = (1, 2, 4, 8)
SAME: Any = PartitionSpec()  # type: ignore[no-untyped-call]
PARTED: Any = PartitionSpec(AXIS)  # type: ignore[no-untyped-call]

Sums = TypeVar("Sums")
Carried = TypeVar("Carried")


def mesh(devices: int | Sequence[int]) -> Mesh:
    """The first so many of JAX's devices, or those of these ids."""
    known = {device.id: device for device in jax.devices()}
    ids = list(known)[:devices] if isinstance(devices, int) else list(devices)
    if (isinstance(devices, int) and devices > len(known)) or not set(ids) <= set(known):
        wanted = f"some of those that JAX sees here: {len(known)}, with ids {', '.join(map(str, known))}"
        raise ArgumentError("devices", f"{devices}", wanted)
    if len(set(ids)) != len(ids) or len(ids) not in COUNTS:
        raise ArgumentError("devices", f"{devices}", f"{', '.join(map(str, COUNTS))}, or so many ids")
    return Mesh([known[i] for i in ids], (AXIS,))


def whole(batch: Batch, over: Mesh) -> Batch:
    """The batch, all of it on each device: sums of its weights are those of one device."""
    there: Batch = jax.lax.with_sharding_constraint(batch, NamedSharding(over, SAME))  # type: ignore[no-untyped-call]
    return there


def summed(
    phases: Callable[[Key[Array, ""], Machine, Carried, Batch], tuple[Sums, Carried]],
    over: Mesh,
    key: Key[Array, ""],
    machine: Machine,
    carried: Carried,
    batch: Batch,
) -> tuple[Sums, Carried]:
    """What ``phases`` finds of each part, summed, and what each part carries on, put together again.

    The rows of ``batch``, and of all that is carried, are the parts' in turn; their number is a multiple of ``SHARDS``.
    """
    n = SHARDS // over.size

    def on_device(key: Array, machine: Machine, carried: Carried, batch: Batch) -> tuple[Sums, Carried]:
        first = n * jax.lax.axis_index(AXIS)
        found = [
            alone(
                phases,
                jnp.asarray(batch.full),
                jax.random.fold_in(key, first + i),
                machine,
                _part(carried, i, n),
                _rows(batch, i, n),
            )
            for i in range(n)
        ]
        branches = jax.lax.all_gather(_tree_sum([sums for sums, _ in found]), AXIS)
        total = _tree_sum([jax.tree.map(lambda x, j=j: x[j], branches) for j in range(over.size)])
        return total, jax.tree.map(lambda *parts: jnp.concatenate(parts), *(after for _, after in found))

    total = jnp.sum(batch.weights)
    rows = Batch(PARTED, PARTED, SAME, SAME)
    mapped = jax.shard_map(
        on_device, mesh=over, in_specs=(SAME, SAME, PARTED, rows), out_specs=(SAME, PARTED), check_vma=False
    )
    sums, carried = mapped(
        key, machine, carried, Batch(batch.visible, batch.weights, jnp.asarray(batch.full, total.dtype), total)
    )
    return alone(lambda sums: sums, total, sums), carried


def largest(
    sizes: Callable[[Machine, Batch], dict[str, Array]], over: Mesh, machine: Machine, batch: Batch
) -> dict[str, Array]:
    """The largest of the sizes that are found of each part."""
    n = SHARDS // over.size

    def on_device(machine: Machine, visible: tuple[Array, ...], weights: Array) -> dict[str, Array]:
        found = [sizes(machine, _rows(Batch(visible, weights, 1.0), i, n)) for i in range(n)]
        most = {name: jnp.max(jnp.stack([part[name] for part in found])) for name in found[0]}
        return {name: jnp.max(jax.lax.all_gather(size, AXIS)) for name, size in most.items()}

    mapped = jax.shard_map(on_device, mesh=over, in_specs=(SAME, PARTED, PARTED), out_specs=SAME, check_vma=False)
    result: dict[str, Array] = mapped(machine, batch.visible, batch.weights)
    return result


def _part(tree: PyTree, i: int, n: int) -> PyTree:
    """The i-th of n parts of all arrays of a tree."""
    return jax.tree.map(lambda x: x.reshape(n, -1, *x.shape[1:])[i], tree)


def _rows(batch: Batch, i: int, n: int) -> Batch:
    visible, weights = _part((batch.visible, batch.weights), i, n)
    return batch._replace(visible=visible, weights=weights)


def _tree_sum(parts: Sequence[Sums]) -> Sums:
    """((0 + 1) + (2 + 3)) + …, of a power of two."""
    while len(parts) > 1:
        parts = [jax.tree.map(jnp.add, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]
