import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["stamp", "durations", "times", "event", "cloudevents", "mapping", "origin"])
def test_what_needs_no_columns_does_not_import_arrow(module):
    code = f"import penstock.events.{module}, sys; sys.exit('pyarrow' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
