"""``penstock detect --engine spark``: the session that it runs in, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable

from penstock.command.complaints import note
from penstock.detection.files import FoundInFiles
from penstock.spark.session import MASTER, session
from penstock.spark.whole import Whole
from penstock.spark.work import Work


def detector(master: str | None) -> Callable[..., FoundInFiles]:
    """What detects in files on Spark, as `penstock.detection.files.detect_files` does without it."""
    return Whole(session(master or MASTER, is_silent=True), _say_unsplit).detect_files


def _say_unsplit(work: Work) -> None:
    for name, reason in work.recipe.split.reasons.items():
        note(f"`{name}` is detected by one worker, since {reason}")
