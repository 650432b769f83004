"""Prefetching changes when items are made, and nothing else."""

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

from harmonium.data import Batches, prefetch, read

WAIT = 60
"""Seconds after which a test that hangs fails; no test that passes waits."""


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("harmonium-prefetch")]


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    assert not threads()


def test_the_same_chunks():
    batches = Batches(read(np.arange(60.0).reshape(20, 3)), 6, 0)
    made = [(t, *batches.chunk(t, 3)) for t in range(0, 21, 3)]
    got = list(prefetch((t, *batches.chunk(t, 3)) for t in range(0, 21, 3)))
    assert len(got) == len(made)
    for a, b in zip(made, got, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("items", [[], [None], [1, 2, 3]])
def test_any_items(items):
    assert list(prefetch(items)) == items


def test_the_next_is_made_while_the_current_is_used():
    made = [threading.Event() for _ in range(3)]
    makers = set()

    def source():
        for event in made:
            makers.add(threading.current_thread().name)
            event.set()
            yield event

    items = prefetch(source())
    assert not made[0].is_set()
    next(items)
    assert made[1].wait(WAIT)
    assert not made[2].is_set()
    next(items)
    assert made[2].wait(WAIT)
    assert len(makers) == 1
    assert makers != {threading.current_thread().name}
    items.close()


def test_at_most_two_are_alive():
    class Item:
        pass

    alive, most = weakref.WeakSet(), []

    def source():
        for _ in range(20):
            item = Item()
            alive.add(item)
            most.append(len(alive))
            yield item
            del item

    items = prefetch(source())
    for _ in range(20):
        item = next(items)
        assert isinstance(item, Item)
        del item
    with pytest.raises(StopIteration):
        next(items)
    assert max(most) == 2


def test_exceptions_come_where_the_item_is_asked_for():
    def source():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    items = prefetch(source())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(OSError, match="the disk is gone") as caught:
        next(items)
    assert any(entry.name == "source" for entry in caught.traceback)
    assert not threads()
    assert list(items) == []


@pytest.mark.parametrize("end", ["close", "delete", "break", "raise"])
def test_it_stops_when_it_is_left(end):
    closed = []

    def source():
        try:
            yield from itertools.count()
        finally:
            closed.append(True)

    def leave():
        items = prefetch(source())
        assert next(items) == 0
        assert len(threads()) == 1
        if end == "close":
            items.close()
            items.close()
            assert list(items) == []
        elif end == "raise":
            for _ in items:
                raise KeyError
        elif end == "break":
            for _ in items:
                break

    if end == "raise":
        with pytest.raises(KeyError):
            leave()
    else:
        leave()
    gc.collect()
    assert not threads()
    assert closed == [True]


def test_nothing_starts_before_the_first_is_asked_for():
    items = prefetch(itertools.count())
    assert not threads()
    items.close()
