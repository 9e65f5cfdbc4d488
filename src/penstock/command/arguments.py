"""What several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

PatternArgument = Annotated[
    str, typer.Argument(metavar="PATTERN", help="A pattern's text, or a path: .pen core, .json algebra.")
]
