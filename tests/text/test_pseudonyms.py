import pytest

from builder.text.pseudonyms import RENDER, stand_in_spans

WRITTEN = {
    "email": ("marta.klein@acme.com",),
    "phone": ("+49 170 1234567", "(415) 867-5309", "0170 1234567"),
    "ip": ("10.20.30.40", "fe80::1"),
    "card": ("4111 1111 1111 1111", "378282246310005"),
    "iban": ("DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819"),
    "secret": ("sk-proj-abcdefghijklmnop1234", "hunter2hunter2"),
    "ssn": ("078-05-1120",),
}


@pytest.mark.parametrize("kind", RENDER)
@pytest.mark.parametrize("code", [0, 7, 412])
def test_every_stand_in_is_known_again_in_a_sentence(kind: str, code: int) -> None:
    for value in WRITTEN[kind]:
        shown = RENDER[kind][0](value, code)
        text = f"is it {shown}, please?"
        assert text[slice(*stand_in_spans(text)[0])] == shown, shown


@pytest.mark.parametrize(
    "text",
    [
        "500 rows at a time, in eu-west-1, since 2024-10-01",
        "reset 10.0.0.1 and call extension 4155",
        "invoice 100000000 is 5550 too high",
        "marta.klein@acme.com wrote about RFC 5737",
    ],
)
def test_real_values_are_no_stand_ins(text: str) -> None:
    assert stand_in_spans(text) == []
