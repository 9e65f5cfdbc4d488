"""How hard the property tests look: PENSTOCK_HYPOTHESIS=deep looks much harder than `make test` does."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("deep", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("PENSTOCK_HYPOTHESIS", "ci"))
