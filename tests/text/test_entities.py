import random

import pytest

from builder.core.errors import BuilderError
from builder.core.records import Catalogue, Entity, Passage, Transcript, Turn
from builder.text.entities import COMMON, EntityIndex, catalogue_from_json, mine_entities, names_in
from builder.text.lexicon import lexicon
from builder.text.words import words


def conversation(name: str, *texts: str) -> Transcript:
    roles = ("user", "assistant")
    return Transcript(
        name, tuple(Turn(n + 1, roles[n % 2], text) for n, text in enumerate(texts)), language="en"
    )


LOG = (
    conversation(
        "a", "what is the SLA in Dublin?", "Dublin (eu-west-1) has an SLA of 99.95% on the Admin API."
    ),
    conversation(
        "b", "error KST-4221 on eu-west-1", "We saw KST-4221 today. The Admin API is down in Dublin."
    ),
    conversation("c", "how big is the Bog Strider", "The Bog Strider is as tall as a house."),
)


def test_names_are_codes_acronyms_and_runs_of_capitals_inside_a_sentence() -> None:
    text = "Yes. Backups of São Paulo run under KST-4221 and db.medium, see the Admin API."
    assert names_in(text, lexicon("en")) == ["São Paulo", "KST-4221", "db.medium", "Admin API"]


def test_a_name_is_mined_when_two_turns_hold_it() -> None:
    names = {entity.name for entity in mine_entities(LOG).entities}
    assert {"Dublin", "KST-4221", "Bog Strider", "Admin API", "SLA"} <= names


def test_a_code_in_brackets_is_an_alias() -> None:
    assert mine_entities(LOG).aliases_of("Dublin") == ("eu-west-1",)


def test_mining_ignores_the_order_of_conversations() -> None:
    shuffled = list(LOG)
    random.Random(3).shuffle(shuffled)
    assert mine_entities(shuffled) == mine_entities(LOG)


def test_listed_entities_stay_first_and_gain_aliases_from_the_log() -> None:
    listed = Catalogue((Entity("Dublin", "region"),))
    mined = mine_entities(LOG, listed)
    assert mined.entities[0] == Entity("Dublin", "region", ("eu-west-1",))
    assert [entity.name for entity in mined.entities].count("Dublin") == 1


def test_a_name_in_most_conversations_tells_no_subject() -> None:
    log = [
        conversation(str(n), f"how do i use Halyard today {n}", "With Halyard it is easy.") for n in range(25)
    ]
    assert {e.name: e.type for e in mine_entities(log).entities}["Halyard"] == COMMON


def test_titles_of_passages_give_names() -> None:
    log = [conversation("a", "how much is Cruise Pack", "It depends.")]
    names = {e.name for e in mine_entities(log, None, [Passage("p", "All about Cruise Pack", "")]).entities}
    assert "Cruise Pack" in names


def test_the_longest_name_at_a_place_is_found() -> None:
    index = EntityIndex(
        Catalogue((Entity("Export", "x"), Entity("Billing Export API", "api", ("billing export",))))
    )
    found = index.find(words("is the billing exports API paginated, or the export?", lexicon("en")))
    assert [mention.entity.name for mention in found] == ["Billing Export API", "Export"]


def test_a_catalogue_is_read_by_type() -> None:
    value = {"entity types": {"region": [{"name": "Dublin", "aliases": ["eu-west-1"]}]}}
    assert catalogue_from_json(value).entities == (Entity("Dublin", "region", ("eu-west-1",)),)


def test_an_empty_catalogue_is_an_error() -> None:
    with pytest.raises(BuilderError, match=r"entities.json: no entities in it; write"):
        catalogue_from_json({}, "entities.json")
