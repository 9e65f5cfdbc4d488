"""Where everything is published: the streams of sites, their topics, and the buckets that all share."""

from __future__ import annotations

from penstock.brokers.protocol import Stream
from penstock.brokers.topics import ANY, REST, Topic

DIRECTORY = "penstock"
"""The bucket of the directory, of what the nodes have agreed on, and of what subscribers are told."""
NODES = "penstock-nodes"
"""The bucket in which nodes say that they live, and how they are."""
STATES = "penstock-states"
"""The bucket of detectors' states."""
ADMINISTRATION: Topic = ("administration",)
"""What an administrator asks of all nodes."""


def stream_of(site: str) -> str:
    """The name of a site's stream.

    >>> stream_of("office")
    'penstock-office'
    """
    return f"penstock-{site}"


def site_stream(site: str, max_age: float = 86_400.0, max_bytes: int = 1 << 30) -> Stream:
    """The stream that keeps all that is published at a site."""
    return Stream(stream_of(site), ((site, REST),), max_age=max_age, max_bytes=max_bytes)


def event_topic(site: str, type: str) -> Topic:
    """Events of a type; ``*`` for all types.

    >>> event_topic("office", "Open")
    ('office', 'event', 'Open')
    """
    return (site, "event", ANY if type == "*" else type)


def beat_topic(site: str, type: str) -> Topic:
    """Heartbeats of sources of a type, by which those who wait for its events go on."""
    return (site, "beat", ANY if type == "*" else type)


def found_topic(site: str, detector: str) -> Topic:
    """Composites that a detector has found."""
    return (site, "found", detector)


def progress_topic(site: str, detector: str) -> Topic:
    """How far a detector has come: heartbeats for other detectors."""
    return (site, "progress", detector)
