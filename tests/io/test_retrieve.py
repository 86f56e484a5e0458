from builder.core.records import Passage
from builder.io.retrieve import Retriever, tokens

PASSAGES = (
    Passage("frankfurt#sla", "Frankfurt — Uptime", "Frankfurt carries a 99.99% uptime commitment."),
    Passage("dublin#sla", "Dublin — Uptime", "Dublin (eu-west-1) carries a 99.95% uptime commitment."),
    Passage("keys", "Encryption keys", "Customer keys are accepted in both regions."),
)


def test_the_passage_that_shares_rare_words_comes_first() -> None:
    assert Retriever(PASSAGES)("Dublin uptime", 2) == ["dublin#sla", "frankfurt#sla"]


def test_the_order_of_passages_changes_nothing() -> None:
    assert Retriever(PASSAGES[::-1]).scores("uptime commitments") == Retriever(PASSAGES).scores(
        "uptime commitments"
    )


def test_passages_without_a_shared_word_are_not_found() -> None:
    assert Retriever(PASSAGES)("warranty", 3) == []
    assert Retriever(())("Dublin", 3) == []


def test_names_with_separators_count_whole_and_in_parts() -> None:
    assert tokens("eu-west-1 regions") == ["eu", "west", "1", "eu-west-1", "region"]


def test_scripts_without_spaces_are_searched_by_pairs_of_characters() -> None:
    assert tokens("停车证P4") == ["停车", "车证", "p4"]
    log = (Passage("a", "", "居民停车证一年60欧元"), Passage("b", "", "临时禁停区每天20欧元"))
    assert Retriever(log)("停车证多少钱", 1) == ["a"]
