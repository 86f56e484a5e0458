from builder.core.wording import by_number, counted


def test_one_is_singular() -> None:
    assert [counted(n, "record") for n in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


def test_places_stand_in_the_order_of_their_numbers() -> None:
    places = ["log:11", "log:2", "b/log:1", "log:2: prefix[10]", "log:2: prefix[9]"]
    assert sorted(places, key=by_number) == [
        "b/log:1",
        "log:2",
        "log:2: prefix[9]",
        "log:2: prefix[10]",
        "log:11",
    ]
