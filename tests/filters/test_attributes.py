import pyarrow as pa
import pytest

from penstock.errors import PatternError
from penstock.events.table import make_table
from penstock.filters.attributes import check_attributes
from penstock.languages.core.parser import parse_syntax


def check(text: str, *columns: str, fixed: bool = True) -> None:
    attributes = {name: pa.array([1]) for name in columns}
    check_attributes(parse_syntax(text), make_table({"type": ["A"], "lo": [1], "hi": [1]}, attributes, fixed))


@pytest.mark.parametrize(
    "text",
    [
        "[A(rom = 7)]",
        "[*(rom = 7)]",
        "[A in {A, B(rom IS NULL)}]",
        "([A] in {B(rom = $r)})",
        "let Warm = A(rom > 7)\n[Warm]",
        "let Warm = A, B\n[Warm(rom > 7)]",
        "let Warm = Entry\nlet Entry = A\n[Warm(rom > 7)]",
        "x: [A] ; [B(room > x.rom)]",
        "x: [A]+ where max(x.rom) > 3",
        "x: [A] select room = x.rom",
        "x: [!A in {B}] select room = x.rom",
        "Meeting := [A(room = $r)]\n[A(rom = 7)]",
        "Meeting := [A(room = $r)]\nx: [Meeting, B] select room = x.rom",
    ],
)
def test_an_attribute_that_the_table_lacks_is_refused(text):
    with pytest.raises(PatternError, match="no attribute `rom`, only room, temp") as caught:
        check(text, "room", "temp")
    assert caught.value.hint == "did you mean `room`?"
    assert "rom" in caught.value.excerpt


@pytest.mark.parametrize(
    "text",
    [
        "[A(room = 7 AND lo > 3 AND source = $s AND id IS NULL)]",
        "Meeting := [A(room = $r)]\n[Meeting(r = 7)]",
        "Meeting := [A(room = $r)]\n[*(r = 7)]",
        "Meeting := x: [A] select high = x.room\ny: [Meeting, B] select high = y.high",
        "let Talk = Meeting\nMeeting := [A(room = $r)]\n[Talk(r = 7)]",
        "([A], t: [T(x = 1)]){T = 5 min} where t.y = 1",
        "x: [A] where count(x) > x.hi",
    ],
)
def test_fields_and_computed_attributes_are_not_looked_for_in_the_table(text):
    check(text, "room")


def test_a_free_form_table_may_lack_any_attribute():
    check("[A(rom = 7)]", "room", fixed=False)


def test_the_error_points_at_the_attribute():
    with pytest.raises(PatternError) as caught:
        check("[A(room = 1)] ;\n  [B(1 < rom)]", "room")
    assert (caught.value.line, caught.value.column) == (2, 10)
    assert caught.value.excerpt == "  [B(1 < rom)]\n         ^^^"


def test_no_more_than_ten_attributes_are_listed():
    with pytest.raises(PatternError, match="only a0, a1, a10, a11, a2, a3, a4, a5, a6, a7 and 2 more") as caught:
        check("[A(zzz = 7)]", *(f"a{number}" for number in range(12)))
    assert caught.value.hint is None


def test_a_table_without_attributes_has_none_to_list():
    with pytest.raises(PatternError, match="no attribute `sorce`, nor any other") as caught:
        check("[A(sorce IS NULL)]")
    assert caught.value.hint == "did you mean `source`?"
