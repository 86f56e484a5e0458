"""Tables: the columns of the records, and items back as they were."""

import io
from dataclasses import fields, replace
from pathlib import Path

from builder.core.records import Item, Synthesis
from builder.core.rows import item_to_row
from builder.io.parquet import features, item_from_cells, table_bytes
from tests.pipeline.halyard_set import halyard_items

MADE = Synthesis(
    base="c1",
    base_turn=3,
    donors=("c2",),
    inserted=(3, 4, 5, 6),
    original_distance=1,
    planned_distance=5,
    variant="plain",
    antecedent_turns=(2,),
    proof=(("no donor term is needed", "none of 4"),),
)


def test_the_columns_are_the_fields_of_the_records() -> None:
    assert set(features("items")) == {f.name for f in fields(Item)}
    assert set(features("items")["synthesis"]) == {f.name for f in fields(Synthesis)}


def test_items_come_back_as_they_were_synthetic_ones_too(root: Path) -> None:
    import pyarrow.parquet as pq

    plain, other = halyard_items(root)[:2]
    made = replace(
        other, origin="synthetic", synthesis=MADE, pair=plain.id, reference_rewrite=None, rewrite_note="no"
    )
    rows = [item_to_row(plain), item_to_row(made)]
    data, n, _ = table_bytes("items", rows)
    cells = pq.read_table(io.BytesIO(data)).to_pylist()
    assert n == 2
    assert [item_from_cells(row) for row in cells] == rows
    assert table_bytes("items", rows)[0] == data


def test_a_table_without_rows_still_says_its_types() -> None:
    import pyarrow.parquet as pq

    data, n, _ = table_bytes("qrels", [])
    assert n == 0
    assert [str(t) for t in pq.read_table(io.BytesIO(data)).schema.types] == ["string", "string", "int32"]
