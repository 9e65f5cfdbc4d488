"""How a command ends that cannot do what it was asked: a message for people, and a status for machines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from penstock.errors import DataError, ParseError, PatternError, PenstockError, visible

INTERRUPTED = 130
BROKEN_PIPE = 141


class OptionError(PenstockError):
    """An option or argument that cannot be used."""


class OutputError(PenstockError):
    """A place to which results cannot be written."""


STATUS: dict[type[PenstockError], int] = {OptionError: 2, ParseError: 2, PatternError: 2, DataError: 3}
"""The exit status for each kind of error; 1 for all others."""


@contextmanager
def complaining() -> Iterator[None]:
    """Turns errors that a user can make into messages, and an interruption into silence."""
    try:
        yield
    except PenstockError as error:
        complain(error)
        raise typer.Exit(status_of(error)) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        abandon_output()
        raise typer.Exit(BROKEN_PIPE) from None


def status_of(error: PenstockError) -> int:
    """The exit status for an error.

    >>> status_of(DataError("lo is after hi")), status_of(OutputError("the disk is full"))
    (3, 1)
    """
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 1)


def complain(error: PenstockError) -> None:
    """Say on standard error what is wrong, where, and what to do."""
    Console(stderr=True).print(_styled(error), soft_wrap=True, highlight=False)


def note(text: str) -> None:
    """Say on standard error something that is worth knowing."""
    Console(stderr=True).print(Text.assemble(("note: ", "bold cyan"), visible(text)), soft_wrap=True, highlight=False)


def _styled(error: PenstockError) -> Text:
    text = Text.assemble(("error: ", "bold red"), visible(str(error)))
    if error.excerpt:
        text.highlight_regex(r"(?m)^ *\t*\^+$", "bold red")
    text.highlight_regex(r"(?m)^hint:", "bold green")
    return text


@contextmanager
def option(name: str) -> Iterator[None]:
    """Errors about a value that was given for an option name the option."""
    try:
        yield
    except PenstockError as error:
        raise OptionError(f"{name}: {error.message}", hint=error.hint) from None


def abandon_output() -> None:
    """Nobody reads standard output any more, or it is full: what is left of it goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
