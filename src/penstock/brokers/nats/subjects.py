"""Topics as NATS subjects, and back."""

from __future__ import annotations

from penstock.brokers.topics import ANY, REST, Topic, escaped, unescaped

ROOT = "ps"
"""All subjects begin with this, so that others can use the same servers."""


def subject_of(topic: Topic) -> str:
    """A topic or a pattern of topics as a subject.

    >>> subject_of(("office", "event", "office.door")), subject_of(("office", REST))
    ('ps.office.event.office=2Edoor', 'ps.office.>')
    """
    return ".".join((ROOT, *(level if level in (ANY, REST) else escaped(level) for level in topic)))


def topic_of(subject: str) -> Topic:
    """The topic of a subject.

    >>> topic_of("ps.office.event.office=2Edoor")
    ('office', 'event', 'office.door')
    """
    return tuple(unescaped(level) if "=" in level else level for level in subject.split(".")[1:])
