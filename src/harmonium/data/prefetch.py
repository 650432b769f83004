"""The next item made ready while the current one is used."""

from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")


class _End:
    """No item: the items have run out."""


END: Final = _End()


def prefetch(items: Iterable[T]) -> Generator[T, None, None]:
    """The same items, each made in one background thread while the one before is used.

    No more than two are alive, if the user keeps none. What making an item raises is raised where the item is asked
    for. The thread ends with the items, at an exception, and when the iterator is closed or garbage collected.

    >>> list(prefetch(n**2 for n in range(4)))
    [0, 1, 4, 9]
    """
    source = iter(items)
    with ThreadPoolExecutor(1, "harmonium-prefetch") as thread:
        ahead = thread.submit(next, source, END)
        while not isinstance(item := ahead.result(), _End):
            ahead = thread.submit(next, source, END)
            yield item
