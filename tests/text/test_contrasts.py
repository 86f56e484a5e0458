import pytest

from builder.core.records import Catalogue, Reading, Transcript, Turn
from builder.text.contrasts import contrast_of
from builder.text.entities import EntityIndex
from builder.text.place import place
from builder.text.scene import lay_out


def contrast(language: str, form: str, *texts: str) -> tuple[set[str], set[str]]:
    turns = tuple(Turn(n + 1, "assistant" if n % 2 else "user", text) for n, text in enumerate(texts))
    scene = lay_out(Transcript("c", turns, language=language), EntityIndex(Catalogue()))
    last = len(texts) if len(texts) % 2 else len(texts) - 1
    reading = Reading(last, 1, True, True, form, False, False, (last - 1,), 1.0)
    found = contrast_of(place(scene, reading, {1: 1, last: 1}))
    return set(found.chosen), set(found.stale)


@pytest.mark.parametrize(
    ("texts", "chosen", "stale"),
    [
        (
            ("price of almond oat bars?", "Almond oat bars are 2 euros.", "what about hazelnut oat bars"),
            "hazelnut",
            "almond",
        ),
        (("who teaches BIO 110?", "Ms Lee teaches BIO 110.", "and BIO 220?"), "220", "110"),
    ],
    ids=["distinguishing word", "number"],
)
def test_a_rival_with_an_overlapping_name_differs_by_one_word(
    texts: tuple[str, ...], chosen: str, stale: str
) -> None:
    found = contrast("en", "ellipsis", *texts)
    assert chosen in found[0]
    assert stale in found[1]


def test_the_item_at_the_position_is_chosen_from_a_numbered_list() -> None:
    texts = ("你们的会员分几档？", "三档：1. 青铜 2. 白银 3. 黄金。", "第三档多少钱")
    assert contrast("zh", "ordinal", *texts) == ({"黄金"}, {"青铜", "白银"})


def test_the_last_item_is_chosen_from_bullets() -> None:
    texts = ("which sizes?", "We have:\n- Sloop\n- Ketch\n- Clipper", "price of the last one?")
    assert contrast("en", "ordinal", *texts) == ({"clipper"}, {"sloop", "ketch"})


def test_what_a_correction_says_is_chosen() -> None:
    texts = ("data limit of the Bronze tier in Lagos", "50 GB a month.", "no sorry i meant silver")
    assert contrast("en", "ellipsis", *texts)[0] == {"silver"}


def test_what_the_answer_needed_is_not_stale() -> None:
    texts = ("price of almond oat bars?", "2 euros.", "what about hazelnut oat bars", "Like almond: 2 euros.")
    assert contrast("en", "ellipsis", *texts) == ({"hazelnut"}, set())


def test_a_plain_question_makes_no_contrast() -> None:
    texts = ("price of oat bars?", "2 euros.", "do you ship to Norway?")
    assert contrast("en", "none", *texts) == (set(), set())
