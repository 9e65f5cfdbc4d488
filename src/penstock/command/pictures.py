"""Where pictures are, as seen from the page that shows them."""

from __future__ import annotations

import os
from pathlib import Path


def beside(picture: Path, page: Path) -> str:
    """The path of a picture, relative to its page.

    >>> beside(Path("plots/speed.svg"), Path("pages/RESULTS.md"))
    '../plots/speed.svg'
    """
    return Path(os.path.relpath(picture, page.absolute().parent)).as_posix()
