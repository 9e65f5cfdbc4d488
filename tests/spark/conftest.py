"""One Spark session for all tests that need one; `conftest.py` of the project sends them to one worker."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock.spark.session import session as start


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    made = start("local[2]")
    yield made
    made.stop()
