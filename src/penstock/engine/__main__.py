"""``python -m penstock.engine`` compiles the kernel, so that the first detection need not."""

from __future__ import annotations

import sys

from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.engine.prepare import prepare

if not is_compiled():
    sys.stderr.write(f"{ANNOUNCEMENT}\n")
prepare()
