"""What is in the pages of Parquet files, read by compiled code."""

from __future__ import annotations

from penstock.engine.pagecolumns import names_in, numbers_in
from penstock.engine.pagetexts import PageTexts


class PageReading:
    """A `penstock.events.parquetpieces.PageReader`."""

    texts = PageTexts
    numbers = staticmethod(numbers_in)
    names = staticmethod(names_in)
