"""Topics: names in levels, as every broker has them, and how they are written where only plain letters are safe.

A topic is a tuple of texts, so that a name may have any letters; an adapter writes it in its broker's form. In a
pattern of topics a level may be `ANY`, and the last one `REST`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from penstock.errors import BrokerError

Topic = tuple[str, ...]
ANY = "*"
"""In a pattern: any name at this level."""
REST = ">"
"""In a pattern: one level or more, whatever they are."""

_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(rb"=([0-9A-F]{2})")


def is_in(topic: Topic, pattern: Topic) -> bool:
    """Whether a pattern has a topic.

    >>> is_in(("office", "event", "Open"), ("office", ANY, "Open")), is_in(("office",), ("office", REST))
    (True, False)
    """
    if pattern and pattern[-1] == REST:
        return len(topic) >= len(pattern) and is_in(topic[: len(pattern) - 1], pattern[:-1])
    return len(topic) == len(pattern) and all(p in (ANY, t) for t, p in zip(topic, pattern, strict=True))


def is_in_any(topic: Topic, patterns: Iterable[Topic]) -> bool:
    """Whether one of several patterns has a topic.

    >>> is_in_any(("a",), [("b",), ("a",)])
    True
    """
    return any(is_in(topic, pattern) for pattern in patterns)


def checked(topic: Topic) -> Topic:
    """The topic, if something can be published to it.

    >>> checked(("office", ""))
    Traceback (most recent call last):
    penstock.errors.BrokerError: ('office', '') is no topic
    hint: each level has a name; patterns are for those who listen
    """
    if not topic or any(level in ("", ANY, REST) for level in topic):
        raise BrokerError(f"{topic!r} is no topic", hint="each level has a name; patterns are for those who listen")
    return topic


def escaped(name: str) -> str:
    """A name in letters, digits, ``-`` and ``_``; every other byte of its UTF-8 form is ``=`` and two digits.

    >>> escaped("office.door"), escaped("Tür")
    ('office=2Edoor', 'T=C3=BCr')
    """
    return _UNSAFE.sub(lambda found: b"=%02X" % found[0][0], name.encode()).decode()


def unescaped(text: str) -> str:
    """The name that was escaped.

    >>> unescaped("office=2Edoor")
    'office.door'
    """
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text.encode()).decode()
