"""``python -m penstock.engine`` compiles the kernel, so that the first detection need not."""

from __future__ import annotations

import sys

from penstock.engine.compiled import cache_folder
from penstock.engine.prepare import prepare

if not any(cache_folder().glob("*/*.nbc")):
    sys.stderr.write("compiling the kernel, once; this takes about a minute\n")
prepare()
