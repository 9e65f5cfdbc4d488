import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.filters.like import like_regex


@pytest.mark.parametrize(
    ("pattern", "escape", "text", "expected"),
    [
        ("R_", None, "R1", True),
        ("R_", None, "R12", False),
        ("R%", None, "R", True),
        ("%\n_", None, "a\n\n", True),
        ("r1", None, "R1", False),
        ("a.c", None, "abc", False),
        ("_", None, "😀", True),
        ("a\\%", None, "a\\bc", True),
        ("5#%", "#", "5%", True),
        ("5#%", "#", "50", False),
        ("#a##", "#", "a#", True),
        ("a#", "#", "a#", True),
        ("%%a", "%", "%a", True),
        ("a", None, "a\n", False),
    ],
)
def test_like(pattern, escape, text, expected):
    regex = like_regex(pattern, escape)
    assert bool(re.fullmatch(regex, text)) is expected
    assert pc.match_substring_regex(pa.scalar(text), rf"\A{regex}\z").as_py() is expected


def test_every_character_stands_for_itself_in_both_dialects():
    texts = [chr(code) for code in range(256) if chr(code) not in "%_"]
    for text in texts:
        regex = like_regex(text)
        matching = pc.match_substring_regex(pa.array(texts), rf"\A{regex}\z")
        assert pa.array(texts).filter(matching).to_pylist() == [text]
        assert re.fullmatch(regex, text)
