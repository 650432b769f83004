"""Downloads from a server on this machine: whole, damaged, cut, missing, late, and killed while writing."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from harmonium.datasets import DatasetError, catalogue, download, load
from harmonium.datasets.catalogue import DataSet, Known

SPLITS = ("train", "valid", "test")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        content = server.content.get(self.path)
        if content is None:
            self.send_error(404)
            return
        server.gate.wait(10)
        self.send_response(200)
        if server.says_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: server.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.asked, server.cut, server.says_length = {}, [], None, True
    server.gate = threading.Event()
    server.gate.set()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.gate.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("HARMONIUM_DATA", raising=False)
    monkeypatch.setenv("HARMONIUM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def as_text(rows, between=",", end="\n"):
    return "".join(between.join(map(str, row)) + end for row in rows.tolist()).encode()


def digest(rows):
    return sha256(np.packbits(rows, axis=1).tobytes()).hexdigest()


@pytest.fixture
def toy(server, cache, monkeypatch):
    """Three splits of 11 columns on the server, known to the catalogue as ``toy``."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 2, (n, 11), np.uint8) for n in (50, 20, 30)]
    known = [Known(len(split), digest(split)) for split in rows]
    monkeypatch.setitem(catalogue.SETS, "toy", DataSet(11, *known, url=server.url + "/{name}.{split}.data"))
    server.content = {f"/toy.{name}.data": as_text(split) for name, split in zip(SPLITS, rows, strict=True)}
    return rows


def files(folder):
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def check(loaded, rows):
    for found, expected in zip(loaded, rows, strict=True):
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("style", [(",", "\n"), (" ", "\n"), (" ", " \n"), (",", "\r\n"), ("", "")])
def test_an_original_is_downloaded_once(server, cache, toy, style):
    server.content = {f"/toy.{name}.data": as_text(split, *style) for name, split in zip(SPLITS, toy, strict=True)}
    check(load("toy"), toy)
    check(load("toy"), toy)
    assert server.asked == ["/toy.train.data", "/toy.valid.data", "/toy.test.data"]
    assert files(cache) == ["debd/toy.npz"]


def test_a_cache_serves_as_a_folder_of_copies(server, cache, toy, monkeypatch):
    load("toy")
    monkeypatch.setenv("HARMONIUM_DATA", str(cache))
    monkeypatch.delenv("HARMONIUM_CACHE")
    check(load("toy"), toy)
    assert len(server.asked) == 3


def test_a_folder_of_copies_means_no_download(server, toy, tmp_path, monkeypatch):
    monkeypatch.setenv("HARMONIUM_DATA", str(tmp_path / "copies"))
    with pytest.raises(DatasetError, match=r"toy\.npz.* unset HARMONIUM_DATA"):
        load("toy")
    assert not server.asked


def refused(server, cache, found):
    """Loading fails with both ways out, and leaves nothing that a later load could take for the data."""
    with pytest.raises(DatasetError, match=f"{found}.*with a network.*HARMONIUM_DATA to a folder with debd/toy.npz"):
        load("toy")
    assert not cache.exists() or not files(cache)


def test_one_wrong_bit_is_found(server, cache, toy):
    wrong = toy[2].copy()
    wrong[7, 3] ^= 1
    server.content["/toy.test.data"] = as_text(wrong)
    refused(server, cache, r"toy\.test\.data: found content with SHA-256")
    server.content["/toy.test.data"] = as_text(toy[2])
    check(load("toy"), toy)


def test_rows_in_another_order_are_found(server, cache, toy):
    server.content["/toy.train.data"] = as_text(toy[0][::-1])
    refused(server, cache, r"toy\.train\.data: found content with SHA-256")


def test_a_page_in_place_of_the_file_is_found(server, cache, toy):
    server.content["/toy.valid.data"] = b"<html>Please log in to network 10</html>"
    refused(server, cache, r"toy\.valid\.data: found 2 zeros and ones; wanted 20 × 11")


@pytest.mark.parametrize(("says_length", "found"), [(True, "IncompleteRead"), (False, "found 100 zeros and ones")])
def test_a_cut_connection_is_found(server, cache, toy, says_length, found):
    server.cut, server.says_length = 200, says_length
    refused(server, cache, found)
    server.cut = None
    check(load("toy"), toy)


def test_a_missing_file_is_found(server, cache, toy):
    del server.content["/toy.valid.data"]
    refused(server, cache, r"toy\.valid\.data: found .*404")


def test_a_silent_server_is_given_up(server, cache, toy, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    server.gate.clear()
    refused(server, cache, "timed out")


def test_no_network(server, cache, toy, monkeypatch):
    nobody = ThreadingHTTPServer(("127.0.0.1", 0), Handler)  # takes a port that is then free
    nobody.server_close()
    url = f"http://127.0.0.1:{nobody.server_port}/"
    monkeypatch.setitem(catalogue.SETS, "toy", catalogue.SETS["toy"]._replace(url=url))
    refused(server, cache, "Connection refused")


KILLED = """
import os, signal
import numpy as np
from harmonium.datasets import load
from harmonium.datasets.catalogue import SETS, DataSet, Known

whole = np.savez_compressed

def half(path, **arrays):
    whole(path, **arrays)
    os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)

np.savez_compressed = half
SETS["toy"] = {known!r}
load("toy")
"""


def test_a_writer_killed_half_way_leaves_no_data_set(server, cache, toy):
    code = KILLED.format(known=catalogue.SETS["toy"])
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert files(cache)  # what it had written, under another name
    assert not (cache / "debd" / "toy.npz").exists()
    check(load("toy"), toy)


def test_two_at_a_time(server, cache, toy):
    with ThreadPoolExecutor(4) as pool:
        for loaded in pool.map(load, ["toy"] * 4):
            check(loaded, toy)
    assert files(cache) == ["debd/toy.npz"]


def test_a_cache_that_cannot_be_written(cache, toy):
    cache.write_text("a file")
    with pytest.raises(DatasetError, match=r"wanted to write it. Set HARMONIUM_CACHE"):
        load("toy")


def test_a_damaged_download_is_found(cache, toy):
    load("toy")
    file = cache / "debd" / "toy.npz"
    for length in (file.stat().st_size // 2, 0):
        os.truncate(file, length)
        with pytest.raises(DatasetError, match="Delete it and load again"):
            load("toy")
    file.unlink()
    check(load("toy"), toy)


@pytest.mark.skipif(not os.environ.get("HARMONIUM_DATA"), reason="HARMONIUM_DATA names no folder of copies")
@pytest.mark.parametrize("name", [name for name, known in catalogue.SETS.items() if known.url])
def test_the_text_of_a_real_set_gives_the_same_rows(server, name, monkeypatch, tmp_path):
    """The originals as they are published, one line of digits for each row, with the digests of the catalogue."""
    if not (Path(os.environ["HARMONIUM_DATA"]) / catalogue.SETS[name].file.format(name=name)).exists():
        pytest.skip("not among the copies")
    copied = load(name)
    for split, rows in zip(SPLITS, copied, strict=True):
        text = np.full((len(rows), 2 * rows.shape[1]), ord(","), np.uint8)
        text[:, ::2] = rows + ord("0")
        text[:, -1] = ord("\n")
        server.content[f"/{split}"] = text.tobytes()
    monkeypatch.delenv("HARMONIUM_DATA")
    monkeypatch.setenv("HARMONIUM_CACHE", str(tmp_path))
    monkeypatch.setitem(catalogue.SETS, name, catalogue.SETS[name]._replace(url=server.url + "/{split}"))
    check(load(name), copied)
