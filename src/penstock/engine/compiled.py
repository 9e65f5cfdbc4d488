"""Compiles the kernel's functions, once for each version of their text, and keeps the result on disk."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

F = TypeVar("F", bound=Callable[..., Any])


def cache_folder() -> Path:
    """Where compiled code is kept: a folder of its own for each version of the kernel's text."""
    folders = (Path(__file__).parent, Path(__file__).parents[1] / "ordering")
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py"))]
    compiled_ones = [text for text in texts if any(word in text for word in (b"@compiled", b"@intrinsic", b"HEADER ="))]
    version = hashlib.sha256(b"".join(compiled_ones)).hexdigest()[:16]
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(given or home) / "penstock" / f"kernel-{version}"


_FOLDER = str(cache_folder())
ANNOUNCEMENT = "compiling the kernel, once; this takes about a minute"


def is_compiled() -> bool:
    """Whether the kernel is on disk already."""
    return any(Path(_FOLDER).glob("**/*advance*.nbc"))


def compiled(function: F) -> F:
    """The function, compiled to machine code when it is first called, or read from disk.

    While it runs, other threads do: files are read ahead meanwhile, and detectors can share processors.
    """
    return _compiled(function, inline=False)


def inlined(function: F) -> F:
    """A compiled function that becomes part of each function that calls it: calls cost more than small functions do."""
    return _compiled(function, inline=True)


def _compiled(function: F, inline: bool) -> F:
    elsewhere = config.CACHE_DIR
    config.CACHE_DIR = _FOLDER
    try:
        made: F = njit(cache=True, nogil=True, forceinline=inline)(function)
    finally:
        config.CACHE_DIR = elsewhere
    return made
