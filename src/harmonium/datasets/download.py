"""An original file from the network: all of it, or an error that says what to do instead."""

import logging
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from harmonium.datasets.places import DatasetError

TIMEOUT = 30.0
"""Seconds without an answer after which a server is given up."""


def fetch(url: str, remedy: str) -> bytes:
    """The content at a URL."""
    logging.getLogger(__name__).info("downloading %s", url)
    try:
        with urlopen(Request(url, headers={"User-Agent": "harmonium"}), timeout=TIMEOUT) as answer:
            content: bytes = answer.read()
    except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors; a cut is an HTTPException
        if isinstance(error, HTTPError):
            error.close()
        raise DatasetError(f"{url}: found {error!r}; wanted the file. {remedy}.") from error
    return content
