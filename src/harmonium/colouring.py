"""Colours: groups that do not act on each other, so that a Gibbs sampler may update each group at once."""

import numpy as np
from jaxtyping import Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order


def colour(graph: csr_array) -> Int[np.ndarray, " n"]:
    """A colour for every node such that neighbours differ: the smallest one free, nodes taken breadth first.

    Two colours where two suffice: breadth first, the neighbours already coloured lie on one side of a bipartite graph.
    """
    n = graph.shape[0]
    colours = np.full(n, -1)
    for start in range(n):
        if colours[start] >= 0:
            continue
        for node in breadth_first_order(graph, start, directed=False, return_predecessors=False):
            taken = set(colours[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]].tolist())
            colours[node] = next(c for c in range(n) if c not in taken)
    return colours


def blocks(graph: csr_array) -> Int[np.ndarray, "colours size"]:
    """The nodes of each colour, a row a colour, padded with n (one past the last node)."""
    colours = colour(graph)
    groups = [np.flatnonzero(colours == c) for c in range(int(colours.max()) + 1)]
    padded = np.full((len(groups), max(map(len, groups))), len(colours))
    for row, group in zip(padded, groups, strict=True):
        row[: len(group)] = group
    return padded
