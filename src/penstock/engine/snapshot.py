"""An engine's whole state as one piece of bytes."""

from __future__ import annotations

import numpy as np

from penstock.engine.library import Library, page_name
from penstock.events.saved import pack, unpack


def save(library: Library) -> bytes:
    """All of an engine's state.

    >>> from penstock import parse
    >>> from penstock.engine.engine import Engine
    >>> restore(save(Library(Engine(parse("[A(k = $k)] ; [B(k = $k)]"))))).engine.fed
    0
    """
    store = library.whole()
    names = sorted(store)
    lengths = np.array([len(store[name]) for name in names], np.int64)
    whole = np.frombuffer(b"".join(store[name] for name in names), np.uint8)
    return pack("snapshot", {"names": names, "lengths": lengths, "bodies": whole})


def restore(state: bytes) -> Library:
    """The engine that was saved, with all that it needs in memory."""
    library = Library.open(_store(state))
    library.everything()
    return library


def _store(data: bytes) -> dict[str, bytes]:
    """The store that bytes are of; an error for others."""
    values = unpack("snapshot", data)
    ends = np.cumsum(values["lengths"])
    whole = values["bodies"].tobytes()
    bodies = [whole[end - length : end] for end, length in zip(ends, values["lengths"], strict=True)]
    names = [one if isinstance(one, str) else page_name(*one) for one in values["names"]]
    if len(names) < len(bodies):  # before there were directories, the manifest had no name
        names = ["manifest", *names]
    return dict(zip(names, bodies, strict=True))
