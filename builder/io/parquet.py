"""Tables of a release: every column's type is said, so that an empty or all-null column loads like any other."""

import io
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from builder.core.rows import Row


@cache
def features(config: str) -> Any:
    """The `datasets` features of one config: items, corpus, qrels or mix."""
    from datasets import Features, List, Value

    text, number, real, flag = Value("string"), Value("int32"), Value("float64"), Value("bool")
    texts, numbers = List(text), List(number)
    turn = {"turn": number, "role": text, "content": text, "citations": texts, "at": text}
    synthesis = {
        "base": text, "base_turn": number, "donors": texts, "inserted": numbers, "original_distance": number,
        "planned_distance": number, "variant": text, "antecedent_turns": numbers,
        "proof": List({"obligation": text, "finding": text}), "terms": texts,
    }  # fmt: skip
    items = {
        "id": text, "conversation_id": text, "turn": number, "prefix": List(turn), "follow_up": text, "gold": texts,
        "reference_type": text, "forbidden_in_rewrite": texts, "required_in_rewrite": texts,
        "aliases": List({"term": text, "wordings": texts}), "reference_rewrite": text, "form": text, "pivot": flag,
        "returns": flag, "antecedent_turns": numbers, "d_live": number, "d_stale": number, "d_introduced": number,
        "intervening_turns": number, "language": text, "origin": text, "weight": real, "inclusion_probability": real,
        "labelled_by": text, "confidence": real, "review": text, "subject": text, "correction": flag, "drift": flag,
        "answers_clarification": flag, "gold_source": text, "rewrite_note": text, "pair": text, "synthesis": synthesis,
    }  # fmt: skip
    share = {"reference_type": text, "count": real, "share": real, "low": real, "high": real, "seats": number,
             "items": number, "weight": real}  # fmt: skip
    configs = {
        "items": items,
        "corpus": {"_id": text, "title": text, "text": text},
        "qrels": {"query-id": text, "corpus-id": text, "score": number},
        "mix": share,
    }
    return Features(configs[config])


def item_to_cells(row: Row) -> Row:
    """An item's JSON object as table cells: maps become lists of pairs, absent fields their empty value."""
    cells = {"subject": "", "rewrite_note": "", "pair": "", "synthesis": None, **row}
    cells["prefix"] = [{"citations": [], "at": "", **turn} for turn in row["prefix"]]
    cells["aliases"] = [{"term": term, "wordings": words} for term, words in sorted(row["aliases"].items())]
    made = row.get("synthesis")
    if made:
        proof = [{"obligation": name, "finding": finding} for name, finding in made["proof"].items()]
        cells["synthesis"] = {**made, "proof": proof}
    return cells


def item_from_cells(cells: Mapping[str, Any]) -> Row:
    """The JSON object of an item from its table cells; the reverse of `item_to_cells`."""
    row = {**cells, "aliases": {pair["term"]: list(pair["wordings"]) for pair in cells["aliases"]}}
    row["prefix"] = [
        {k: v for k, v in turn.items() if v or k not in ("citations", "at")} for turn in cells["prefix"]
    ]
    made = cells.get("synthesis")
    if made:
        row["synthesis"] = {**made, "proof": {pair["obligation"]: pair["finding"] for pair in made["proof"]}}
    for name in ("synthesis", "pair", "rewrite_note", "subject"):
        if not row[name]:
            del row[name]
    return row


TO_CELLS: dict[str, Callable[[Row], Row]] = {"items": item_to_cells}
"""Configs whose JSON objects are not table rows as they are."""


def table_bytes(config: str, rows: Iterable[Row]) -> tuple[bytes, int, int]:
    """A Parquet file of `rows` as (bytes, rows, bytes in memory); equal rows give equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    to_cells = TO_CELLS.get(config, dict)
    table = pa.Table.from_pylist([to_cells(row) for row in rows], schema=features(config).arrow_schema)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="snappy")
    return sink.getvalue(), table.num_rows, table.nbytes


def columns(config: str) -> list[Any]:
    """The features of a config in the form that a dataset card's `dataset_info` has them."""
    listed: list[Any] = features(config)._to_yaml_list()
    return listed
