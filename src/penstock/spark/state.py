"""A detector's pages in Spark's state store, by name."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Protocol


class Map(Protocol):
    """What is used of Spark's ``MapState``; keys and values are rows of one column."""

    def getValue(self, key: tuple[str]) -> tuple[bytes] | None:  # noqa: N802
        """The value of a key, or nothing."""

    def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None:  # noqa: N802
        """Another value for a key."""

    def removeKey(self, key: tuple[str]) -> None:  # noqa: N802
        """No value for a key."""

    def keys(self) -> Iterator[tuple[str]]:
        """All keys."""


class Pages(MutableMapping[str, bytes]):
    """All pages of a bucket. Each is read from Spark when it is asked for, and written at once."""

    def __init__(self, state: Map) -> None:
        self._state = state

    def __getitem__(self, name: str) -> bytes:
        found = self._state.getValue((name,))
        if found is None:
            raise KeyError(name)
        return bytes(found[0])

    def __setitem__(self, name: str, body: bytes) -> None:
        self._state.updateValue((name,), (body,))

    def __delitem__(self, name: str) -> None:
        self._state.removeKey((name,))

    def __iter__(self) -> Iterator[str]:
        return iter([str(key[0]) for key in self._state.keys()])  # noqa: SIM118

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Prefixed(MutableMapping[str, bytes]):
    """The pages of a store whose names begin with a prefix, by the rest of their names.

    >>> store = {"0/a": b"x", "1/a": b"y"}
    >>> dict(Prefixed(store, "1/"))
    {'a': b'y'}
    """

    def __init__(self, store: MutableMapping[str, bytes], prefix: str) -> None:
        self._store = store
        self._prefix = prefix

    def __getitem__(self, name: str) -> bytes:
        return self._store[self._prefix + name]

    def __setitem__(self, name: str, body: bytes) -> None:
        self._store[self._prefix + name] = body

    def __delitem__(self, name: str) -> None:
        del self._store[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self._prefix) for name in self._store if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)
