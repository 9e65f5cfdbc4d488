import pytest

from penstock.errors import DataError
from penstock.events.mapping import Columns, columns_from


def test_a_mapping_is_checked_when_it_is_made():
    with pytest.raises(DataError, match="'m' is not a unit for times"):
        Columns(time_unit="m")
    with pytest.raises(DataError, match="'Berlin' is not a time zone"):
        Columns(zone="Berlin")
    with pytest.raises(DataError, match="is negative"):
        Columns(clock_error=-1)


def test_columns_are_mapped_by_the_names_of_fields():
    assert columns_from({"type": "a", "time": "b", "source": "c", "id": "d", "seq": "e", "arrival": "f"}) == Columns(
        type_from="a", time_from="b", source_from="c", id_from="d", seq_from="e", arrival_from="f"
    )
    assert columns_from({"lo": "a", "hi": "b"}) == Columns(time_from="a", time_to="b")
    assert columns_from({"hi": "b"}, ["lo"]) == Columns(time_from="lo", time_to="b")
    assert columns_from({"hi": "b"}) == Columns(time_from="b")


def test_an_unknown_field_is_named_with_the_nearest():
    with pytest.raises(DataError) as error:
        columns_from({"sourse": "a"})
    assert error.value.hint == "did you mean 'source'?"
