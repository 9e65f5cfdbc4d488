"""``python -m penstock.detection`` compiles the kernel, so that the first detection need not."""

from __future__ import annotations

import sys

from penstock.detection.prepare import compile_all
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled

if not is_compiled():
    sys.stderr.write(f"{ANNOUNCEMENT}\n")
compile_all()
